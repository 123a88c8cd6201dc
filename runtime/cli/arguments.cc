#include "runtime/cli/arguments.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace onepass::cli {
namespace {

constexpr absl::string_view kNo = "--no-";

// "--no-check" undoes "--check", and the other way round.
std::string OppositeOf(absl::string_view flag) {
  if (absl::StartsWith(flag, kNo)) return absl::StrCat("--", flag.substr(kNo.size()));
  return absl::StrCat(kNo, flag.substr(2));
}

}  // namespace

absl::StatusOr<Arguments> Arguments::Parse(llvm::ArrayRef<std::string> words,
                                           llvm::ArrayRef<Flag> flags) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    const absl::string_view word = words[i];
    if (word == "--") {
      arguments.words_.insert(arguments.words_.end(), words.begin() + i + 1, words.end());
      break;
    }
    if (!absl::StartsWith(word, "-") || word == "-") {
      arguments.words_.emplace_back(word);
      continue;
    }
    const size_t equals = std::min(word.find('='), word.size());
    const absl::string_view name = word.substr(0, equals);
    const auto flag =
        std::find_if(flags.begin(), flags.end(), [&](const Flag& f) { return f.name == name; });
    if (flag == flags.end())
      return absl::InvalidArgumentError(absl::StrCat(name, ": unknown flag"));
    std::string value;
    if (equals < word.size()) {
      if (flag->value.empty())
        return absl::InvalidArgumentError(absl::StrCat(name, " takes no value: '", word, "'"));
      value = std::string(word.substr(equals + 1));
    } else if (!flag->value.empty()) {
      if (i + 1 < words.size()) value = words[++i];
    }
    if (value.empty() && !flag->value.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(name, " needs a value: ", flag->value));
    }
    arguments.values_.erase(OppositeOf(name));
    arguments.in_order_.emplace_back(name, value);
    const auto [place, is_new] = arguments.values_.try_emplace(std::string(name), value);
    if (!is_new && !value.empty() && !flag->many) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": is given twice, as '", place->second, "' and '", value, "'"));
    }
  }
  return arguments;
}

std::string Arguments::Line() const {
  if (words_.size() == 1) return words_[0];
  return absl::StrJoin(words_, " ", [](std::string* out, const std::string& word) {
    constexpr absl::string_view kExpression = "expr=";
    const bool lost_quotes = absl::StartsWith(word, kExpression) && absl::StrContains(word, ' ') &&
                             !absl::StrContains(word, '"');
    if (lost_quotes) {
      absl::StrAppend(out, kExpression, "\"", absl::string_view(word).substr(kExpression.size()),
                      "\"");
    } else {
      absl::StrAppend(out, word);
    }
  });
}

std::string Arguments::Get(absl::string_view flag, absl::string_view otherwise) const {
  const auto found = values_.find(std::string(flag));
  return found == values_.end() ? std::string(otherwise) : found->second;
}

std::vector<std::string> Arguments::GetAll(absl::string_view flag) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : in_order_) {
    if (name == flag) values.push_back(value);
  }
  return values;
}

absl::StatusOr<uint64_t> Arguments::GetNumber(absl::string_view flag, uint64_t otherwise,
                                              uint64_t least) const {
  if (!Has(flag)) return otherwise;
  const std::string text = Get(flag);
  uint64_t number = 0;
  if (!absl::SimpleAtoi(text, &number) || number < least) {
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": '", text, "' is no whole number of at least ", least));
  }
  return number;
}

bool Arguments::Enabled(absl::string_view name) const { return !Has(absl::StrCat(kNo, name)); }

}  // namespace onepass::cli
