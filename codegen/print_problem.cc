#include <optional>

#include "absl/strings/str_cat.h"
#include "codegen/problem.h"
#include "codegen/problem_words.h"

namespace onepass {

namespace {

void AppendWords(const Problem& stage, bool first, std::string& text) {
  for (const ProblemWord& word : ProblemWords()) {
    if ((word.ops & BitOf(stage.op)) == 0 || (word.first_only && !first)) continue;
    const std::optional<std::string> value = word.print(stage);
    if (!value) continue;
    absl::StrAppend(&text, " ", word.name, value->empty() ? "" : "=", *value);
  }
}

}  // namespace

std::string ToString(const Problem& problem) {
  std::string text = absl::StrCat(ToString(problem.op), " ", ToString(problem.dtype), " ",
                                  PrintSizes(problem.dims));
  if (problem.layout != Layout::kChannelsFirst)
    absl::StrAppend(&text, ":", ToString(problem.layout));
  AppendWords(problem, true, text);
  for (const Problem& stage : problem.next) {
    absl::StrAppend(&text, " | ", ToString(stage.op));
    AppendWords(stage, false, text);
  }
  return text;
}

}  // namespace onepass
