#include <algorithm>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/executor_run.h"
#include "bench/measurements.h"
#include "bench/median.h"

namespace onepass::bench {
namespace {

constexpr char kGroup[] =
    "simulated GPU on one core, traffic counted, processor time, in turns with a null loop";
constexpr int kRounds = 9;
constexpr int64_t kNullSteps = 10'000'000;
constexpr int64_t kWide = 32 << 20;     // more than the host's caches hold
constexpr int64_t kNarrow = 1 << 18;    // of a copy: what is copied stays in the host's cache
constexpr int64_t kMixBytes = 270'336;  // a thread for each word: 264 blocks
constexpr int kMixRounds = 80;

std::vector<ExecutorCase> OneCoreCases() {
  std::vector<ExecutorCase> cases;
  for (const char* mix : {"float_mix", "integer_mix", "half_mix"}) {
    cases.push_back({absl::StrCat("arithmetic: ", mix), mix, kMixBytes, kMixRounds, 120});
  }
  for (const char* copy : {"copy_words", "copy_vectors"}) {
    const int turns = copy == std::string("copy_words") ? 4 : 16;
    cases.push_back({absl::StrCat(copy, ", 256 KB"), copy, kNarrow, 16 * turns, 60});
    cases.push_back({absl::StrCat(copy, ", 32 MB"), copy, kWide, turns / 4, 60});
  }
  for (const char* kernel : {"float_mix", "copy_words", "copy_vectors"}) {
    const bool mix = kernel == std::string("float_mix");
    ExecutorCase checked = {absl::StrCat(kernel, ", all checkers on"), kernel};
    checked.bytes = mix ? kMixBytes : kNarrow;
    checked.repeat = mix ? kMixRounds / 4 : 16;
    checked.least = 15;
    checked.sanitize = true;
    cases.push_back(checked);
  }
  return cases;
}

// Both halves of the null loop at a time.
void RunTwoNullLoops() {
  std::thread other([] { RunNullLoop(kNullSteps / 2); });
  RunNullLoop(kNullSteps / 2);
  other.join();
}

Work WorkOf(ExecutorRun& run) {
  return [&run](int) { run.Run(); };
}

// Million warp instructions a second, in turns with the null loop and a copy by the host.
void MeasureOneCore(const std::shared_ptr<const sim::Module>& module, Figures& figures) {
  std::vector<std::unique_ptr<ExecutorRun>> runs;
  std::vector<uint8_t> from(kWide, 1), to(kWide);
  std::vector<Work> works = {[](int) { RunNullLoop(kNullSteps); },
                             [&](int) { std::memcpy(to.data(), from.data(), kWide); }};
  std::vector<ExecutorCase> cases = OneCoreCases();
  for (const ExecutorCase& of : cases) {
    auto run = ExecutorRun::Start(module, of);
    if (!run.ok()) return figures.Note(absl::StrCat(of.name, ": ", run.status().message()));
    runs.push_back(*std::move(run));
    works.push_back(WorkOf(*runs.back()));
  }
  const std::vector<double> ns = MedianNanoseconds(works, kRounds, 1, ThreadNanoseconds);
  const double step = ns[0] / kNullSteps;
  figures.Add({kGroup, "the null loop: a step", step, "ns"});
  figures.Add({kGroup, "the host's memcpy of 32 MB", kWide / ns[1], "GB/s"});
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto instructions = static_cast<double>(runs[i]->warp_instructions());
    const double of_one = ns[2 + i] / instructions;
    figures.Add({.group = kGroup,
                 .name = cases[i].name,
                 .value = 1e3 / of_one,
                 .unit = "M/s",
                 .least = cases[i].least,
                 .remark = absl::StrFormat("%.1f null steps", of_one / step)});
  }
}

void MeasureTwoCores(const std::shared_ptr<const sim::Module>& module, Figures& figures) {
  constexpr char kTwoCores[] = "simulated GPU on two cores: times the speed of one";
  if (std::thread::hardware_concurrency() < 2) {
    return figures.Note("two cores: this machine has one");
  }
  std::vector<std::unique_ptr<ExecutorRun>> runs;
  std::vector<Work> works = {[](int) { RunNullLoop(kNullSteps); }, [](int) { RunTwoNullLoops(); }};
  const std::vector<ExecutorCase> cases = {
      {"float_mix", "float_mix", kMixBytes, kMixRounds},
      {"copy_words, 32 MB", "copy_words", kWide, 1},
      {"copy_vectors, 32 MB", "copy_vectors", kWide, 4},
  };
  for (ExecutorCase of : cases) {
    for (const int threads : {1, 2}) {
      of.host_threads = threads;
      auto run = ExecutorRun::Start(module, of);
      if (!run.ok()) return figures.Note(absl::StrCat(of.name, ": ", run.status().message()));
      runs.push_back(*std::move(run));
      works.push_back(WorkOf(*runs.back()));
    }
  }
  const std::vector<double> ns = MedianNanoseconds(works, kRounds, 1);
  figures.Add({kTwoCores, "the null loop", ns[0] / ns[1], "times"});
  for (size_t i = 0; i < cases.size(); ++i) {
    figures.Add({.group = kTwoCores,
                 .name = cases[i].name,
                 .value = ns[2 + 2 * i] / ns[3 + 2 * i],
                 .unit = "times",
                 .least = 1.8,
                 .remark = absl::StrFormat("two null loops: %.2f times", ns[0] / ns[1])});
  }
}

}  // namespace

void MeasureExecutor(const Bench& bench, Figures& figures) {
  const auto module = CompileExecutorKernels(bench);
  if (!module.ok()) return figures.Note(std::string(module.status().message()));
  MeasureOneCore(*module, figures);
  MeasureTwoCores(*module, figures);
}

}  // namespace onepass::bench
