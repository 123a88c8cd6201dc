#include "absl/strings/str_format.h"
#include "runtime/cli/command.h"
#include "runtime/exit_code.h"

namespace onepass::cli {
namespace {

int Version(const Arguments& arguments) {
  if (!arguments.words().empty()) return Complain("version takes no words", kExitInvalid);
  absl::PrintF("onepass %s\n", ONEPASS_VERSION);
  return kExitOk;
}

}  // namespace

const Command kVersionCommand = {"version", "", "print the version", {}, Version};

}  // namespace onepass::cli
