#include "runtime/exit_code.h"

namespace onepass {
namespace {

ExitCode ByKind(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitOk;
    case absl::StatusCode::kInvalidArgument:
      return kExitInvalid;
    case absl::StatusCode::kUnimplemented:
      return kExitUnsupported;
    case absl::StatusCode::kUnavailable:
      return kExitMissing;
    default:
      return kExitOther;
  }
}

}  // namespace

ExitCode ExitCodeOf(const absl::Status& status, Stage stage) {
  const ExitCode code = ByKind(status);
  if (stage == Stage::kBuild && status.code() == absl::StatusCode::kAborted)
    return kExitCompileFailed;
  // What a simulated device cannot do is one thing; whatever else it says, the kernel did wrong.
  if (stage == Stage::kSimulatedLaunch && code != kExitOk && code != kExitUnsupported)
    return kExitCheckFailed;
  return code;
}

int WorstOf(int a, int b) {
  for (const int code : {kExitCheckFailed, kExitOther, kExitCompileFailed, kExitMissing,
                         kExitUnsupported, kExitInvalid}) {
    if (a == code || b == code) return code;
  }
  return kExitOk;
}

std::string OneLine(absl::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (!control) {
      line.push_back(c);
    } else if (!line.empty() && line.back() != ' ') {
      line.append(c == '\n' ? "; " : " ");
    }
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == ';')) line.pop_back();
  return line;
}

}  // namespace onepass
