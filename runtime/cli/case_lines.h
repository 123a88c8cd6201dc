// The lines of a case file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace onepass::cli {

struct CaseLine {
  int64_t number = 0;  // in the file, from 1
  std::string text;    // without comment and surrounding space; never empty
};

// '#' begins a comment; lines with nothing else are left out.
std::vector<CaseLine> SplitCaseLines(absl::string_view text);

// Reads a file, or standard input for "-". kInvalidArgument names the file.
absl::StatusOr<std::vector<CaseLine>> ReadCaseLines(const std::string& path);

}  // namespace onepass::cli
