#include <algorithm>
#include <cstdio>
#include <exception>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/cli/case_flags.h"
#include "runtime/cli/case_lines.h"
#include "runtime/cli/command.h"
#include "runtime/cli/in_order.h"
#include "runtime/cli/line_run.h"
#include "runtime/cli/report_text.h"
#include "runtime/cli/summary.h"
#include "runtime/exit_code.h"
#include "runtime/report_json.h"

namespace onepass::cli {
namespace {

constexpr Flag kBatchInFlag{
    "--in", "DIR", "read DIR/LINE/ROLE.npy for the roles that are there; LINE counts from 1"};
constexpr Flag kBatchOutFlag{"--out", "DIR", "write every input and output as DIR/LINE/ROLE.npy"};
constexpr Flag kJobsFlag{"--jobs", "N", "lines at once (default: the number of cores)"};
constexpr Flag kFlags[] = {kDeviceFlag, kStrategyFlag, kBatchInFlag, kBatchOutFlag, kSeedFlag,
                           kDataFlag,   kCheckFlag,    kNoCheckFlag, kSanitizeFlag, kApproxFlag,
                           kJsonFlag,   kNoCacheFlag,  kJobsFlag};

// What is thrown on a thread (by the standard library, for lack of memory) must not leave it.
RunReport RunLineOrFail(Session& session, const CaseLine& line, CaseFlags flags) {
  if (!flags.in.empty()) absl::StrAppend(&flags.in, "/", line.number);
  if (!flags.out.empty()) absl::StrAppend(&flags.out, "/", line.number);
  try {
    return RunLine(session, line.text, flags);
  } catch (const std::exception& error) {
    return FailedReport(line.text, absl::InternalError(error.what()));
  }
}

void Print(const CaseLine& line, const RunReport& report, bool json) {
  absl::PrintF("%s\n", json ? ToJson(report) : ToTextLine(report));
  std::fflush(stdout);
  if (!report.ok()) {
    Complain(absl::StrCat("line ", line.number, ": ", report.error.value_or("failed")),
             report.exit);
  }
}

Summary RunLines(Session& session, const std::vector<CaseLine>& lines, const CaseFlags& flags,
                 size_t jobs) {
  Summary summary;
  InOrder<RunReport>(
      lines.size(), jobs, [&](size_t i) { return RunLineOrFail(session, lines[i], flags); },
      [&](size_t i, const RunReport& report) {
        summary.Add(report);
        Print(lines[i], report, flags.json);
      });
  summary.SetDamagedEntries(session.store().Damaged());
  return summary;
}

int RunBatch(const Arguments& arguments) {
  if (arguments.words().size() != 1)
    return Complain("batch takes one FILE, or - for standard input", kExitInvalid);
  const auto flags = ReadCaseFlags(arguments);
  if (!flags.ok()) return Complain(flags.status());
  const auto jobs =
      arguments.GetNumber("--jobs", std::max(1u, std::thread::hardware_concurrency()), 1);
  if (!jobs.ok()) return Complain(jobs.status());
  const auto lines = ReadCaseLines(arguments.words()[0]);
  if (!lines.ok()) return Complain(lines.status());
  const auto session = OpenSession(arguments);
  if (!session.ok()) return Complain(session.status());
  const Summary summary = RunLines(**session, *lines, *flags, *jobs);
  absl::PrintF("%s\n", flags->json ? summary.ToJson() : summary.ToText());
  return summary.exit_code();
}

}  // namespace

const Command kBatchCommand = {
    "batch", "FILE", "run every line of a case file ('-': standard input), a summary last", kFlags,
    RunBatch};

}  // namespace onepass::cli
