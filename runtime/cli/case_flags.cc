#include "runtime/cli/case_flags.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/exit_code.h"

namespace onepass::cli {

std::string DeviceName(const Arguments& arguments) {
  return arguments.Get("--device", OptionsFromEnvironment().device);
}

absl::StatusOr<CaseFlags> ReadCaseFlags(const Arguments& arguments) {
  CaseFlags flags;
  flags.options.strategy = arguments.Get("--strategy");
  flags.options.check = arguments.Enabled("check");
  flags.in = arguments.Get("--in");
  flags.out = arguments.Get("--out");
  flags.json = arguments.Has("--json");
  const auto seed = arguments.GetNumber("--seed", 0);
  if (!seed.ok()) return seed.status();
  flags.options.seed = *seed;
  if (arguments.Has("--data")) {
    const auto data = ParseDataSpec(arguments.Get("--data"));
    if (!data.ok())
      return absl::InvalidArgumentError(absl::StrCat("--data: ", data.status().message()));
    flags.options.data = *data;
  }
  return flags;
}

absl::StatusOr<std::unique_ptr<Session>> OpenSession(const Arguments& arguments) {
  const Options environment = OptionsFromEnvironment();
  const bool quiet = environment.log == "error";
  return Session::Open({.device = arguments.Get("--device", environment.device),
                        .sanitize = arguments.Has("--sanitize"),
                        .use_cache = !arguments.Has("--no-cache"),
                        .environment = environment,
                        .warn = [quiet](absl::string_view text) {
                          if (!quiet)
                            absl::FPrintF(stderr, "onepass: warning: %s\n", OneLine(text));
                        }});
}

}  // namespace onepass::cli
