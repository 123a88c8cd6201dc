#include "runtime/cli/case_lines.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "runtime/whole_file.h"

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
  const absl::StatusOr<std::string> text = ReadWholeFile(path == "-" ? "/dev/stdin" : path);
  if (!text.ok()) return text.status();
  return SplitCaseLines(*text);
}

}  // namespace onepass::cli
