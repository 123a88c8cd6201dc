#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "runtime/cli/case_flags.h"
#include "runtime/cli/case_lines.h"
#include "runtime/cli/command.h"
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
constexpr Flag kFlags[] = {kDeviceFlag,   kStrategyFlag, kBatchInFlag, kBatchOutFlag,
                           kSeedFlag,     kDataFlag,     kCheckFlag,   kNoCheckFlag,
                           kSanitizeFlag, kJsonFlag,     kNoCacheFlag, kJobsFlag};

// Runs the lines on several threads and prints their reports in the file's order, each as soon as
// those before it are there.
class Batch {
 public:
  Batch(Session& session, const std::vector<CaseLine>& lines, const CaseFlags& flags)
      : session_(session), lines_(lines), flags_(flags), reports_(lines.size()) {}

  const Summary& Run(size_t jobs) {
    std::vector<std::thread> threads;
    for (size_t i = 1; i < std::min(jobs, lines_.size()); ++i)
      threads.emplace_back([this] { Work(); });
    Work();
    for (std::thread& thread : threads) thread.join();
    return summary_;
  }

 private:
  void Work() {
    for (size_t i = next_.fetch_add(1); i < lines_.size(); i = next_.fetch_add(1)) {
      const CaseLine& line = lines_[i];
      CaseFlags flags = flags_;
      if (!flags.in.empty()) absl::StrAppend(&flags.in, "/", line.number);
      if (!flags.out.empty()) absl::StrAppend(&flags.out, "/", line.number);
      Submit(i, RunLineOrFail(line.text, flags));
    }
  }

  // What is thrown on a thread (by the standard library, for lack of memory) must not leave it.
  RunReport RunLineOrFail(const std::string& line, const CaseFlags& flags) {
    try {
      return RunLine(session_, line, flags);
    } catch (const std::exception& error) {
      return FailedReport(line, absl::InternalError(error.what()));
    }
  }

  void Submit(size_t index, RunReport report) {
    absl::MutexLock lock(&mutex_);
    reports_[index] = std::move(report);
    for (; printed_ < reports_.size() && reports_[printed_].has_value(); ++printed_) {
      Print(lines_[printed_], *reports_[printed_]);
      reports_[printed_].emplace();  // its memory is not needed any more
    }
  }

  void Print(const CaseLine& line, const RunReport& report) {
    summary_.Add(report);
    absl::PrintF("%s\n", flags_.json ? ToJson(report) : ToTextLine(report));
    std::fflush(stdout);
    if (!report.ok()) {
      Complain(absl::StrCat("line ", line.number, ": ", report.error.value_or("failed")),
               report.exit);
    }
  }

  Session& session_;
  const std::vector<CaseLine>& lines_;
  const CaseFlags& flags_;
  std::atomic<size_t> next_ = 0;
  absl::Mutex mutex_;
  std::vector<std::optional<RunReport>> reports_;  // guarded by mutex_, as is what follows
  size_t printed_ = 0;
  Summary summary_;
};

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
  Batch batch(**session, *lines, *flags);
  const Summary& summary = batch.Run(*jobs);
  absl::PrintF("%s\n", flags->json ? summary.ToJson() : summary.ToText());
  return summary.exit_code();
}

}  // namespace

const Command kBatchCommand = {
    "batch", "FILE", "run every line of a case file ('-': standard input), a summary last", kFlags,
    RunBatch};

}  // namespace onepass::cli
