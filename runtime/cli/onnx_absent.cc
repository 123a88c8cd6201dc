// In place of onnx.cc where a program must not depend on protobuf's libraries.
#include "runtime/cli/command.h"
#include "runtime/cli/onnx.h"
#include "runtime/exit_code.h"

namespace onepass::cli {
namespace {

int RunOnnx(const Arguments&) {
  return Complain("onnx: this static build has no ONNX reader; an ordinary build has",
                  kExitMissing);
}

}  // namespace

std::string OnnxVersion() { return ""; }

const Command kOnnxCommand = {"onnx", "MODEL", "not in this static build", {}, RunOnnx};

}  // namespace onepass::cli
