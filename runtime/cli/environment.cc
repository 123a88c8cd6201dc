#include "runtime/cli/environment.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "runtime/exit_code.h"

namespace onepass::cli {
namespace {

void Print(absl::string_view text, const Options& options) {
  if (options.log != "error") absl::FPrintF(stderr, "onepass: warning: %s\n", OneLine(text));
}

}  // namespace

const Options& Environment() {
  static const Options& options = *[] {
    auto* read = new Options(OptionsFromEnvironment());
    for (const std::string& warning : read->warnings) Print(warning, *read);
    return read;
  }();
  return options;
}

void Warn(absl::string_view text) { Print(text, Environment()); }

std::string DeviceName(const Arguments& arguments) {
  return arguments.Get("--device", Environment().device);
}

absl::Status DeviceError(const absl::Status& status, const Arguments& arguments) {
  if (!absl::IsInvalidArgument(status)) return status;
  const absl::string_view place = arguments.Has("--device") ? "--device: " : "ONEPASS_DEVICE: ";
  return absl::InvalidArgumentError(
      absl::StrCat(place, absl::StripPrefix(status.message(), "device: ")));
}

}  // namespace onepass::cli
