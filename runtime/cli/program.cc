#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/cli/command.h"
#include "runtime/exit_code.h"

namespace onepass::cli {
namespace {

const Command* const kCommands[] = {&kRunCommand,   &kBatchCommand,  &kExplainCommand,
                                    &kEmitCommand,  &kOnnxCommand,   &kPtxCommand,
                                    &kCacheCommand, &kDoctorCommand, &kVersionCommand};

bool IsHelp(absl::string_view word) { return word == "help" || word == "--help" || word == "-h"; }

void PrintCommands() {
  absl::PrintF("usage: onepass COMMAND [FLAGS] [WORDS]\n\n");
  for (const Command* command : kCommands) {
    absl::PrintF("  %-28s %s\n", absl::StrCat(command->name, " ", command->operands),
                 command->summary);
  }
  absl::PrintF(
      "\n'onepass COMMAND --help' lists its flags. A problem reads OP DTYPE DIMS[:LAYOUT] [KEYS],\n"
      "for example: batch_norm.train f16 32x64x56x56:nhwc residual act=relu\n");
}

void PrintCommand(const Command& command) {
  absl::PrintF("usage: onepass %s %s\n%s\n", command.name, command.operands, command.summary);
  for (const Flag& flag : command.flags) {
    absl::PrintF("  %-28s %s\n", absl::StrCat(flag.name, " ", flag.value), flag.help);
  }
}

int RunCommand(llvm::ArrayRef<std::string> words) {
  if (words.empty()) return Complain("no command; 'onepass help' lists them", kExitInvalid);
  if (IsHelp(words[0])) {
    PrintCommands();
    return kExitOk;
  }
  const auto found =
      std::find_if(std::begin(kCommands), std::end(kCommands),
                   [&](const Command* command) { return command->name == words[0]; });
  if (found == std::end(kCommands)) {
    return Complain(absl::StrCat("unknown command '", words[0], "'; 'onepass help' lists them"),
                    kExitInvalid);
  }
  const Command& command = **found;
  if (words.size() > 1 && IsHelp(words[1])) {
    PrintCommand(command);
    return kExitOk;
  }
  const auto arguments = Arguments::Parse(words.drop_front(1), command.flags);
  if (!arguments.ok()) {
    return command.refuse == nullptr ? Complain(arguments.status())
                                     : command.refuse(words.drop_front(1), arguments.status());
  }
  return command.run(*arguments);
}

}  // namespace

int Complain(absl::string_view message, int exit_code) {
  absl::FPrintF(stderr, "onepass: %s\n", OneLine(message));
  return exit_code;
}

int Complain(const absl::Status& status) { return Complain(status.message(), ExitCodeOf(status)); }

int RunProgram(llvm::ArrayRef<std::string> words) {
  int code = kExitOther;
  try {
    code = RunCommand(words);
  } catch (const std::bad_alloc&) {
    return Complain("this machine's memory is used up", kExitOther);
  } catch (const std::exception& error) {
    return Complain(error.what(), kExitOther);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return Complain("standard output cannot be written", kExitOther);
  }
  return code;
}

}  // namespace onepass::cli
