#include <algorithm>
#include <cstdio>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "runtime/cli/case_flags.h"
#include "runtime/cli/command.h"
#include "runtime/cli/line_run.h"
#include "runtime/cli/report_text.h"
#include "runtime/exit_code.h"
#include "runtime/report_json.h"

namespace onepass::cli {
namespace {

constexpr Flag kFlags[] = {kDeviceFlag,   kStrategyFlag, kInFlag,    kOutFlag,
                           kSeedFlag,     kDataFlag,     kCheckFlag, kNoCheckFlag,
                           kSanitizeFlag, kApproxFlag,   kJsonFlag,  kNoCacheFlag};

RunReport RunOrFail(const Arguments& arguments, const CaseFlags& flags) {
  const std::string line = arguments.Line();
  // A wrong problem is wrong whatever the device.
  const auto problem = ReadProblem(line);
  if (!problem.ok()) return FailedReport(line, problem.status());
  const auto session = OpenSession(arguments);
  if (!session.ok()) return FailedReport(ToString(*problem), session.status());
  RunReport report = RunProblem(**session, *problem, flags);
  report.damaged_entries = (*session)->store().Damaged();
  return report;
}

int Tell(const RunReport& report, bool json) {
  if (json) {
    absl::PrintF("%s\n", ToJson(report));
  } else if (report.device.has_value()) {
    absl::PrintF("%s", ToText(report));
  }
  return report.ok() ? report.exit : Complain(report.error.value_or("failed"), report.exit);
}

// Whoever asked for JSON gets it, also where nothing else of the request is understood.
int Refuse(llvm::ArrayRef<std::string> words, const absl::Status& status) {
  const auto end = std::find(words.begin(), words.end(), "--");
  const bool json = std::find(words.begin(), end, "--json") != end;
  return Tell(FailedReport(absl::StrJoin(words, " "), status), json);
}

int Run(const Arguments& arguments) {
  const bool json = arguments.Has("--json");
  if (arguments.words().empty())
    return Tell(FailedReport("", absl::InvalidArgumentError("run: no problem")), json);
  const auto flags = ReadCaseFlags(arguments);
  if (!flags.ok()) return Tell(FailedReport(arguments.Line(), flags.status()), json);
  return Tell(RunOrFail(arguments, *flags), json);
}

}  // namespace

const Command kRunCommand = {
    "run",  "PROBLEM", "compile or take from the cache, launch, check against a float64 reference",
    kFlags, Run,       Refuse};

}  // namespace onepass::cli
