// flat: no reduction; every element is read once and written once.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/capacity.h"
#include "codegen/divide.h"
#include "codegen/strategies/rows.h"
#include "codegen/traffic.h"

namespace onepass {
namespace {

constexpr int kThreads = 256;

std::string Refusal(const Key& key, const DeviceSpec&) {
  if (key.op != Op::kPointwiseFwd && key.op != Op::kBatchNormInfer) {
    return absl::StrCat("does not compute ", ToString(key.op));
  }
  return "";
}

// Four accesses a thread keep 16 KB a block in flight; with 2 and 8 for the autotuner.
std::vector<Plan> Propose(const Key& key, const DeviceSpec& device) {
  std::vector<Plan> plans;
  for (int vectors : {4, 2, 8}) {
    Plan plan{.strategy = kFlat.name,
              .threads = kThreads,
              .vector = key.vector(),
              .register_vectors = vectors};
    plan.blocks_per_sm =
        ResidentBlocks(device, kThreads, WorkingRegisters(key) + vectors * key.access_bytes / 4, 0);
    plans.push_back(plan);
  }
  return plans;
}

// The same division of the work as FlatColumns and FlatRuns in templates/flat.cuh.
int64_t FlatBlocks(const Key& key, const Plan& plan, const Extents& extents) {
  if (key.channels == 0 || key.inner != 1) {
    const int64_t vectors = CeilDiv(extents.elements, plan.vector);
    return CeilDiv(vectors, int64_t{plan.threads} * plan.register_vectors);
  }
  const int64_t row_vectors = key.channels / plan.vector;
  const int64_t width = std::min<int64_t>(row_vectors, plan.threads);
  const int64_t rows_a_block = plan.threads / width * plan.register_vectors;
  return CeilDiv(row_vectors, width) * CeilDiv(extents.elements / key.channels, rows_a_block);
}

Schedule ScheduleFlat(const Key& key, const Plan& plan, const Extents& extents) {
  Schedule schedule;
  LaunchShape launch;
  launch.grid[0] = static_cast<uint32_t>(FlatBlocks(key, plan, extents));
  launch.block[0] = static_cast<uint32_t>(plan.threads);
  schedule.launches.push_back(launch);
  return schedule;
}

Counters PredictFlat(const Key& key, const Plan& plan, const Extents& extents,
                     const DeviceSpec& device) {
  Counters counters = OnePassCounters(key, extents, 0);
  counters.busy = BusyShare(FlatBlocks(key, plan, extents), plan.blocks_per_sm, device);
  return counters;
}

constexpr EntryPoint kEntries[] = {{"", "Flat"}};

}  // namespace

const Strategy kFlat = {.name = "flat",
                        .geometry = Geometry::kFlat,
                        .refusal = Refusal,
                        .propose = Propose,
                        .schedule = ScheduleFlat,
                        .predict = PredictFlat,
                        .skeleton = "flat.cuh",
                        .entries = kEntries};

}  // namespace onepass
