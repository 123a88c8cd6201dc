// The subcommands of `onepass`: one row and one file each.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime/cli/arguments.h"

namespace onepass::cli {

struct Command {
  absl::string_view name;
  absl::string_view operands;  // "PROBLEM", for the help
  absl::string_view summary;
  absl::Span<const Flag> flags;
  // Prints its results to standard output, its errors with Complain, and returns the exit code.
  int (*run)(const Arguments& arguments);
  // Says why the command's words cannot be taken apart, and returns the exit code; null: Complain
  // does.
  int (*refuse)(absl::Span<const std::string> words, const absl::Status& status) = nullptr;
};

extern const Command kRunCommand;
extern const Command kBatchCommand;
extern const Command kExplainCommand;
extern const Command kEmitCommand;
extern const Command kOnnxCommand;
extern const Command kPtxCommand;
extern const Command kCacheCommand;
extern const Command kDoctorCommand;
extern const Command kVersionCommand;

// One line on standard error, "onepass: message"; returns the exit code of an error.
int Complain(const absl::Status& status);
// The same for an error whose exit code is known.
int Complain(absl::string_view message, int exit_code);

// The whole program: `words` are main's arguments after the program's name. Returns the exit code;
// never throws.
int RunProgram(absl::Span<const std::string> words);

}  // namespace onepass::cli
