#include "runtime/cli/case_lines.h"

#include <fstream>
#include <iostream>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace onepass::cli {

std::vector<CaseLine> SplitCaseLines(absl::string_view text) {
  std::vector<CaseLine> lines;
  int64_t number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    line = absl::StripAsciiWhitespace(line.substr(0, line.find('#')));
    if (!line.empty()) lines.push_back({number, std::string(line)});
  }
  return lines;
}

absl::StatusOr<std::vector<CaseLine>> ReadCaseLines(const std::string& path) {
  std::ifstream file;
  if (path != "-") file.open(path, std::ios::binary);
  std::istream& in = path == "-" ? std::cin : file;
  // Reading tells a folder from a file where opening does not.
  in.peek();
  if (in.bad() || (path != "-" && !file.is_open())) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  }
  in.clear();
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return SplitCaseLines(text);
}

}  // namespace onepass::cli
