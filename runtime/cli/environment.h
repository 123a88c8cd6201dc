// The environment as all commands see it.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/cli/arguments.h"
#include "runtime/options.h"

namespace onepass::cli {

// Read once; the first call warns of the variables that are ignored.
const Options& Environment();

// "onepass: warning: TEXT" on standard error, unless ONEPASS_LOG is "error".
void Warn(absl::string_view text);

// The device that a command is to use: --device, else ONEPASS_DEVICE, else "auto".
std::string DeviceName(const Arguments& arguments);

// What OpenDevice said of DeviceName, told of the flag or the variable that is wrong.
absl::Status DeviceError(const absl::Status& status, const Arguments& arguments);

}  // namespace onepass::cli
