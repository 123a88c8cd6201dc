#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/measurements.h"
#include "bench/median.h"
#include "cache/memory_store.h"
#include "runtime/device/registry.h"
#include "runtime/device_tensors.h"
#include "runtime/engine.h"
#include "runtime/sim/module.h"

namespace onepass::bench {
namespace {

constexpr int kRounds = 5;

// One launch, what it needs allocated and its kernel compiled before.
struct Ran {
  double seconds = 0;
  Counters counters;
  std::string strategy;
};

absl::StatusOr<Ran> RunOnce(Device& device, Engine& engine, const Problem& problem) {
  auto tensors = DeviceTensors::Allocate(device, problem);
  if (!tensors.ok()) return tensors.status();
  const auto schedule = engine.ScheduleFor(problem, 16);
  if (!schedule.ok()) return schedule.status();
  if (absl::Status s = tensors->AllocateWorkspace(*schedule); !s.ok()) return s;
  for (const TensorSpec& spec : TensorsOf(problem)) {  // the host's pages are there
    const absl::Status filled = device.Fill(tensors->buffers()[spec.role], 0x38, SpanBytes(spec));
    if (!filled.ok()) return filled;
  }
  const auto kernel = engine.Prepare(problem, 16);
  if (!kernel.ok()) return kernel.status();
  if (absl::Status s = device.BeginMeasure(0); !s.ok()) return s;
  const auto start = Clock::now();
  const absl::Status ran = engine.Run(problem, tensors->buffers(), tensors->workspace(), 0);
  const auto measured = device.EndMeasure(0);
  const double ns = Nanoseconds(Clock::now() - start);
  if (!ran.ok()) return ran;
  if (!measured.ok()) return measured.status();
  return Ran{ns * 1e-9, *measured->counters, std::string((*kernel)->plan.strategy)};
}

// The median of several launches; nothing, with a note, where one fails.
std::optional<Ran> RunOften(Device& device, Engine& engine, absl::string_view line,
                            Figures& figures) {
  std::vector<double> seconds;
  Ran last;
  for (int round = 0; round < kRounds; ++round) {
    auto ran = RunOnce(device, engine, *ParseProblem(line));
    if (!ran.ok()) {
      figures.Note(absl::StrCat(line, ": ", ran.status().message()));
      return std::nullopt;
    }
    last = *std::move(ran);
    seconds.push_back(last.seconds);
  }
  last.seconds = MedianOf(seconds);
  return last;
}

void MeasureProblems(const Bench& bench, Figures& figures) {
  const auto device = OpenDevice("sim:h200");
  if (!device.ok()) return;
  cache::MemoryStore store;
  Engine engine(**device, store, bench.nvrtc);
  for (const char* line : {"relu.fwd f32 32x64x56x56", "batch_norm.train f32 32x64x28x28",
                           "batch_norm.train f16 32x64x28x28:nhwc"}) {
    const auto ran = RunOften(**device, engine, line, figures);
    if (!ran.has_value()) continue;
    const auto instructions = static_cast<double>(ran->counters.warp_instructions);
    figures.Add({"simulated GPU, all cores, traffic counted", line,
                 instructions * 1e-6 / ran->seconds, "M/s"});
  }
}

// x once read, y once written.
void MeasureBatchNorms(const Bench& bench, Figures& figures) {
  constexpr double kLimitSeconds = 0.5;
  const auto device = OpenDevice("sim:h200", {.host_threads = 1});
  if (!device.ok()) return;
  cache::MemoryStore store;
  Engine engine(**device, store, bench.nvrtc);
  for (const char* line : {"batch_norm.train f32 32x256x32x32", "batch_norm.train f32 32x512x32x32",
                           "batch_norm.train f32 32x512x32x32:nhwc"}) {
    const auto ran = RunOften(**device, engine, line, figures);
    if (!ran.has_value()) continue;
    const double megabytes = static_cast<double>(SpanBytes(TensorsOf(*ParseProblem(line))[0]));
    figures.Add({.group = "simulated GPU on one core, traffic counted: a launch",
                 .name = absl::StrFormat("%s, x of %.0f MB", line, megabytes / (1 << 20)),
                 .value = ran->seconds,
                 .unit = "s",
                 .limit = kLimitSeconds,
                 .remark = absl::StrFormat(
                     "%s, %.1f M instructions, read %.3f and written %.3f times", ran->strategy,
                     static_cast<double>(ran->counters.warp_instructions) * 1e-6,
                     static_cast<double>(ran->counters.dram_read_bytes) / megabytes,
                     static_cast<double>(ran->counters.dram_write_bytes) / megabytes)});
  }
}

// From PTX to what the executor runs.
void MeasureDecoding(const Bench& bench, Figures& figures) {
  constexpr double kLimitMs = 5;
  std::string largest;
  std::vector<double> all;
  double longest = 0;
  for (const Subject& subject : Subjects()) {
    const auto binary = bench.nvrtc->Compile(SourceFor(subject), "compute_90");
    if (!binary.ok()) return figures.Note(std::string(binary.status().message()));
    const Work decode = [&](int) { (void)sim::Module::Parse(binary->ptx); };
    const double ms = MedianNanoseconds({decode}, 31, 1)[0] * 1e-6;
    all.push_back(ms);
    longest = std::max(longest, ms);
    if (longest == ms)
      largest = absl::StrCat(subject.name(), ", ", binary->ptx.size() / 1024, " KB");
  }
  constexpr char kGroup[] = "simulated GPU: decoding a module";
  figures.Add({kGroup, "the median of our kernels", MedianOf(all), "ms", kLimitMs});
  figures.Add({kGroup, absl::StrCat("the slowest: ", largest), longest, "ms", kLimitMs});
}

}  // namespace

void MeasureSimulation(const Bench& bench, Figures& figures) {
  MeasureResidency(bench, figures);
  MeasureProblems(bench, figures);
  MeasureBatchNorms(bench, figures);
  MeasureDecoding(bench, figures);
}

}  // namespace onepass::bench
