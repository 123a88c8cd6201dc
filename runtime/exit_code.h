// Exit codes of the command line (CONTRACT, "Commands"), in one place.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace onepass {

enum ExitCode : int {
  kExitOk = 0,
  kExitCheckFailed = 1,  // wrong numbers, a finding, a fault or limit on a simulated device
  kExitInvalid = 2,      // the request is wrong
  kExitUnsupported = 3,  // valid, but not supported
  kExitMissing = 4,      // the device or toolkit is missing
  kExitCompileFailed = 5,
  kExitOther = 6,
};

// Where an error came from decides what it means: kAborted is a compile error from the compiler and
// a fault from a running kernel.
enum class Stage { kRequest, kBuild, kRealLaunch, kSimulatedLaunch };

ExitCode ExitCodeOf(const absl::Status& status, Stage stage = Stage::kRequest);

// What a batch ends with: the first of 1, 6, 5, 4, 3, 2 that occurs, else 0.
int WorstOf(int a, int b);

// The message without line ends and control characters, for messages that must stay on one line.
std::string OneLine(absl::string_view text);

}  // namespace onepass
