// The subcommands of `onepass`: one row and one file each.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/cli/arguments.h"

namespace onepass::cli {

struct Command {
  absl::string_view name;
  absl::string_view operands;  // "PROBLEM", for the help
  absl::string_view summary;
  llvm::ArrayRef<Flag> flags;
  // Prints its results to standard output, its errors with Complain, and returns the exit code.
  int (*run)(const Arguments& arguments);
  // Says why the command's words cannot be taken apart, and returns the exit code; null: Complain
  // does.
  int (*refuse)(llvm::ArrayRef<std::string> words, const absl::Status& status) = nullptr;
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
int RunProgram(llvm::ArrayRef<std::string> words);

}  // namespace onepass::cli
