#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/measurements.h"
#include "bench/median.h"
#include "cache/memory_store.h"
#include "runtime/device/registry.h"
#include "runtime/device_tensors.h"
#include "runtime/engine.h"

namespace onepass::bench {
namespace {

// Million warp instructions a second of one launch, traffic counted.
absl::StatusOr<double> SpeedOf(Device& device, Engine& engine, const Problem& problem) {
  auto tensors = DeviceTensors::Allocate(device, problem);
  if (!tensors.ok()) return tensors.status();
  const auto schedule = engine.ScheduleFor(problem, 16);
  if (!schedule.ok()) return schedule.status();
  if (absl::Status s = tensors->AllocateWorkspace(*schedule); !s.ok()) return s;
  if (absl::Status s = device.BeginMeasure(0); !s.ok()) return s;
  const auto start = Clock::now();
  const absl::Status ran = engine.Run(problem, tensors->buffers(), tensors->workspace(), 0);
  const double us = Nanoseconds(Clock::now() - start) * 1e-3;
  const auto measured = device.EndMeasure(0);
  if (!ran.ok()) return ran;
  if (!measured.ok()) return measured.status();
  return static_cast<double>(measured->counters->warp_instructions) / us;
}

}  // namespace

void MeasureSimulation(const Bench& bench, Figures& figures) {
  constexpr int kRounds = 5;
  const auto device = OpenDevice("sim:h200");
  if (!device.ok()) return;
  cache::MemoryStore store;
  Engine engine(**device, store, bench.nvrtc);
  for (const char* line : {"relu.fwd f32 32x64x56x56", "batch_norm.train f32 32x64x28x28",
                           "batch_norm.train f16 32x64x28x28:nhwc"}) {
    std::vector<double> speeds;
    for (int round = 0; round < kRounds; ++round) {
      const auto speed = SpeedOf(**device, engine, *ParseProblem(line));
      if (!speed.ok()) {
        figures.Note(absl::StrCat(line, ": ", speed.status().message()));
        break;
      }
      speeds.push_back(*speed);
    }
    if (!speeds.empty())
      figures.Add({"simulated GPU, all cores, traffic counted", line, MedianOf(speeds), "M/s"});
  }
}

}  // namespace onepass::bench
