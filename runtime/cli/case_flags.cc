#include "runtime/cli/case_flags.h"

#include "absl/strings/str_cat.h"
#include "runtime/cli/environment.h"

namespace onepass::cli {

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
    if (!data.ok()) return absl::InvalidArgumentError(absl::StrCat("--", data.status().message()));
    flags.options.data = *data;
  }
  return flags;
}

absl::StatusOr<std::unique_ptr<Session>> OpenSession(const Arguments& arguments) {
  const auto approx_seed = arguments.GetNumber("--approx-seed", 0);
  if (!approx_seed.ok()) return approx_seed.status();
  auto session = Session::Open({.device = DeviceName(arguments),
                                .sanitize = arguments.Has("--sanitize"),
                                .approx_seed = *approx_seed,
                                .use_cache = !arguments.Has("--no-cache"),
                                .environment = Environment(),
                                .warn = Warn});
  if (!session.ok()) return DeviceError(session.status(), arguments);
  return session;
}

}  // namespace onepass::cli
