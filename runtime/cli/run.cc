#include <cstdio>

#include "absl/strings/str_format.h"
#include "runtime/cli/case_flags.h"
#include "runtime/cli/command.h"
#include "runtime/cli/line_run.h"
#include "runtime/cli/report_text.h"
#include "runtime/exit_code.h"
#include "runtime/report_json.h"

namespace onepass::cli {
namespace {

constexpr Flag kFlags[] = {kDeviceFlag,   kStrategyFlag, kInFlag,     kOutFlag,
                           kSeedFlag,     kDataFlag,     kCheckFlag,  kNoCheckFlag,
                           kSanitizeFlag, kJsonFlag,     kNoCacheFlag};

RunReport RunOrFail(const Arguments& arguments, const CaseFlags& flags) {
  const std::string line = arguments.Line();
  // A wrong problem is wrong whatever the device.
  const auto problem = ReadProblem(line);
  if (!problem.ok()) return FailedReport(line, problem.status());
  const auto session = OpenSession(arguments);
  if (!session.ok()) return FailedReport(ToString(*problem), session.status());
  return RunProblem(**session, *problem, flags);
}

int Run(const Arguments& arguments) {
  if (arguments.words().empty()) return Complain("run: no problem", kExitInvalid);
  const auto flags = ReadCaseFlags(arguments);
  if (!flags.ok()) return Complain(flags.status());
  const RunReport report = RunOrFail(arguments, *flags);
  if (flags->json) {
    absl::PrintF("%s\n", ToJson(report));
  } else if (report.device.has_value()) {
    absl::PrintF("%s", ToText(report));
  }
  return report.ok() ? report.exit : Complain(report.error.value_or("failed"), report.exit);
}

}  // namespace

const Command kRunCommand = {
    "run", "PROBLEM", "compile or take from the cache, launch, check against a float64 reference",
    kFlags, Run};

}  // namespace onepass::cli
