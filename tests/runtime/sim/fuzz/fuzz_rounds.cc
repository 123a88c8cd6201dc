#include "tests/runtime/sim/fuzz/fuzz_rounds.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <new>

#include "absl/strings/str_cat.h"
#include "tests/runtime/sim/fuzz/fuzz_target.h"
#include "tests/runtime/sim/fuzz/mutate.h"

namespace onepass::sim {
namespace {

constexpr int kSlow = 101;  // exit codes of a process that stopped behind an input
constexpr int kLarge = 102;
constexpr double kHangSeconds = 30;  // of the clock on the wall, on a machine with much else to do
constexpr int kMostFound = 40;

double WallSeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

int64_t PeakBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

// What the processes share.
struct Progress {
  std::atomic<uint64_t> number{0};  // of the input that runs
  std::atomic<double> since{0};     // when it began
  std::atomic<uint64_t> inputs{0};
  std::atomic<uint64_t> parsed{0};
  std::atomic<uint64_t> launches{0};
  std::atomic<uint64_t> finished{0};
  std::atomic<double> longest{0};  // CPU seconds of one input
  std::atomic<int64_t> peak{0};    // bytes
};

class Rounds {
 public:
  Rounds(const FuzzRounds& rounds, const std::vector<std::string>& corpus)
      : rounds_(rounds),
        corpus_(corpus),
        end_(rounds.runs > UINT64_MAX - rounds.first ? UINT64_MAX : rounds.first + rounds.runs),
        begin_(WallSeconds()) {
    void* shared =
        mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) std::abort();
    progress_ = new (shared) Progress;
    progress_->number = rounds.first;
  }

  int Run() {
    while (!Over() && found_ < kMostFound) {
      std::fflush(stdout);
      const pid_t child = fork();
      if (child == 0) std::exit(RunInputs());
      const std::string end = EndOf(child);
      if (!end.empty()) Keep(end);
      if (!end.empty()) ++progress_->number;
    }
    Print();
    return found_;
  }

 private:
  bool Over() const {
    return progress_->number >= end_ ||
           WallSeconds() - begin_ >= static_cast<double>(rounds_.seconds);
  }

  // In a process of its own, until the end or behind an input that took too much.
  int RunInputs() {
    for (; !Over(); ++progress_->number) {
      const std::string input = MutatedInput(corpus_, rounds_.seed, progress_->number);
      progress_->since = WallSeconds();
      const double before = CpuSeconds();
      const FuzzEnd end = RunFuzzInput(input);
      const double took = CpuSeconds() - before;
      ++progress_->inputs;
      progress_->parsed += end.parsed.ok();
      progress_->launches += end.launches;
      progress_->finished += end.finished;
      progress_->longest = std::max(progress_->longest.load(), took);
      progress_->peak = std::max(progress_->peak.load(), PeakBytes());
      if (took > kMostCpuSeconds) return kSlow;
      if (PeakBytes() > kMostBytes) return kLarge;
    }
    return 0;
  }

  // Waits; how the process ended, empty where it came to the end of its work.
  std::string EndOf(pid_t child) {
    progress_->since = WallSeconds();
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      usleep(20000);
      if (WallSeconds() - progress_->since < kHangSeconds) continue;
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "hang";
    }
    if (WIFSIGNALED(status)) return absl::StrCat("signal-", WTERMSIG(status));
    if (WEXITSTATUS(status) == kSlow) return "slow";
    if (WEXITSTATUS(status) == kLarge) return "large";
    return WEXITSTATUS(status) == 0 ? "" : absl::StrCat("exit-", WEXITSTATUS(status));
  }

  void Keep(const std::string& end) {
    ++found_;
    const uint64_t number = progress_->number;
    const std::string path =
        absl::StrCat(rounds_.found, "/", end, "-", rounds_.seed, "-", number, ".ptx");
    std::filesystem::create_directories(rounds_.found);
    std::ofstream(path) << MutatedInput(corpus_, rounds_.seed, number);
    std::printf("input %llu: %s: %s\n", static_cast<unsigned long long>(number), end.c_str(),
                path.c_str());
  }

  void Print() const {
    const double seconds = WallSeconds() - begin_;
    std::printf(
        "%llu inputs in %.0f s, %.1f a second: %llu parsed, %llu launches, %llu of them ended "
        "well; longest %.2f s, at most %lld MB; %d found\n",
        static_cast<unsigned long long>(progress_->inputs), seconds,
        static_cast<double>(progress_->inputs) / std::max(seconds, 1e-3),
        static_cast<unsigned long long>(progress_->parsed),
        static_cast<unsigned long long>(progress_->launches),
        static_cast<unsigned long long>(progress_->finished), progress_->longest.load(),
        static_cast<long long>(progress_->peak >> 20), found_);
  }

  const FuzzRounds& rounds_;
  const std::vector<std::string>& corpus_;
  const uint64_t end_;
  const double begin_;
  Progress* progress_;
  int found_ = 0;
};

}  // namespace

int RunRounds(const FuzzRounds& rounds, const std::vector<std::string>& corpus) {
  return Rounds(rounds, corpus).Run();
}

}  // namespace onepass::sim
