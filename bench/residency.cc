#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "bench/machine.h"
#include "bench/measurements.h"
#include "codegen/emit.h"
#include "codegen/strategy.h"
#include "runtime/device/registry.h"
#include "runtime/device_tensors.h"
#include "runtime/launch_arguments.h"

namespace onepass::bench {
namespace {

// Four tiles of columns, each held by 33 blocks: one block an SM, twice as wide as those that are
// chosen. A thread holds 14 vectors, 6 of them in registers.
constexpr char kLine[] = "batch_norm.train f32 462x64x16x16:nhwc";
Plan WidePlan(const Key& key) {
  return {.strategy = FindStrategy("persistent_grid", key.geometry)->name,
          .threads = 1024,
          .vector = 4,
          .register_vectors = 6,
          .shared_vectors = 8,
          .write_vectors = 2,
          .tile_vectors = 4,
          .split = 33};
}

// What the process had resident at its peak, more than before.
absl::StatusOr<int64_t> PeakOf(Device& device, const Nvrtc& nvrtc, const Problem& problem) {
  const Key key = KeyOf(problem, 16);
  const Plan plan = WidePlan(key);
  const Source source = EmitSource(key, plan);
  const auto binary = nvrtc.Compile(source, device.spec().arch());
  if (!binary.ok()) return binary.status();
  const auto module = device.Load(*binary, source.kernels);
  if (!module.ok()) return module.status();
  auto tensors = DeviceTensors::Allocate(device, problem);
  if (!tensors.ok()) return tensors.status();
  const Extents extents = ExtentsOf(problem);
  const Schedule schedule = ScheduleOf(key, plan, extents);
  if (absl::Status s = tensors->AllocateWorkspace(schedule); !s.ok()) return s;
  const onepass_kernel::Arguments arguments =
      ArgumentsOf(tensors->buffers(), extents, plan, tensors->workspace().address);
  const LaunchShape& shape = schedule.launches[0];
  if (shape.grid[0] != 132 || !shape.cooperative) {
    return absl::InternalError(absl::StrCat("a grid of ", shape.grid[0], " blocks"));
  }
  StartPeak();
  const auto before = ResidentBytes();
  const llvm::ArrayRef<uint8_t> bytes(reinterpret_cast<const uint8_t*>(&arguments),
                                      sizeof(arguments));
  if (absl::Status s = device.Launch({module->get(), shape, bytes}, 0); !s.ok()) return s;
  const auto peak = PeakBytes();
  if (!before.has_value() || !peak.has_value()) {
    return absl::UnimplementedError("this system does not say what is resident");
  }
  return *peak - *before;
}

}  // namespace

void MeasureResidency(const Bench& bench, Figures& figures) {
  constexpr double kLimit = 2;
  for (const bool sanitize : {false, true}) {
    const auto device = OpenDevice("sim:h200", {.sanitize = sanitize});
    if (!device.ok()) return;
    const Problem problem = *ParseProblem(kLine);
    const auto peak = PeakOf(**device, *bench.nvrtc, problem);
    if (!peak.ok()) return figures.Note(absl::StrCat(kLine, ": ", peak.status().message()));
    int64_t tensors = 0;  // touched by the launch, and no state of blocks
    for (const TensorSpec& spec : TensorsOf(problem)) tensors += SpanBytes(spec);
    figures.Add({.group = "simulated GPU: a cooperative grid of 132 blocks of 1024 threads",
                 .name = absl::StrCat("persistent_grid: ", kLine,
                                      sanitize ? ", all checkers on" : ", traffic counted"),
                 .value = static_cast<double>(*peak) * 1e-9,
                 .unit = "GB",
                 .limit = kLimit,
                 .remark = absl::StrFormat("tensors of %.3f GB among it",
                                           static_cast<double>(tensors) * 1e-9)});
  }
}

}  // namespace onepass::bench
