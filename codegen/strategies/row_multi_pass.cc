// multi_pass, Row: statistics of parts of rows, then apply in reverse order.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/capacity.h"
#include "codegen/divide.h"
#include "codegen/operators.h"
#include "codegen/strategies/rows.h"
#include "codegen/traffic.h"

namespace onepass {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocksPerSm = 4;
constexpr int64_t kMinPartBytes = 16 * 1024;
constexpr int64_t kMaxPartBytes = 128 * 1024;
constexpr int64_t kMostParts = 2048;

std::string Refusal(const Key& key, const DeviceSpec&) {
  if ((BitOf(key.op) & kMeasuringNorms) == 0)
    return absl::StrCat("does not compute ", ToString(key.op));
  return "";
}

// Blocks over all rows, in parts of at least 16 KB: two waves, or where accesses carry no hints one
// at most, so that the second launch meets x exactly in reverse. Parts grow beyond 128 KB only
// where that would take more than kMostParts, all of which every block of the row reads.
int SplitFor(const Key& key, const DeviceSpec& device) {
  const int64_t row_bytes = key.reduce_class * key.inner * key.element_bytes();
  const int64_t wave = kBlocksPerSm * int64_t{device.sms};
  const int64_t rows = std::max<int64_t>(key.row_class, 1);
  const int64_t wanted =
      HasEvictionHints(key) ? CeilDiv(2 * wave, rows) : std::max<int64_t>(wave / rows, 1);
  const int64_t fewest = std::min(CeilDiv(row_bytes, kMaxPartBytes), kMostParts);
  const int64_t most = std::max<int64_t>(row_bytes / kMinPartBytes, 1);
  return static_cast<int>(std::max(fewest, std::min(wanted, most)));
}

// How many the registers are limited for. Scale and bias of eight elements take 16 of a thread's
// 64: layer norm of f16 with gelu_tanh spills there (NVRTC 13.0, sm_80 and sm_90).
int BlocksPerSm(const Key& key) {
  if (key.dtype == DType::kF64) return kBlocksPerSm / 2;
  return ParamRegisters(key) >= 16 ? kBlocksPerSm - 1 : kBlocksPerSm;
}

std::vector<Plan> Propose(const Key& key, const DeviceSpec& device) {
  Plan plan{.strategy = kRowMultiPass.name, .threads = kThreads, .vector = key.vector()};
  plan.register_vectors = std::clamp(64 / key.access_bytes, 2, 8);
  plan.split = SplitFor(key, device);
  plan.blocks_per_sm = BlocksPerSm(key);
  return {plan};
}

int64_t PartialsBytes(const Key& key, const Plan& plan, const Extents& extents) {
  if (TakesSaved(plan, extents)) return 0;
  // With its count.
  return extents.rows * plan.split * (SpreadBytes(key) + SizeOf(AccumulationType(key.dtype)));
}

Schedule ScheduleParts(const Key& key, const Plan& plan, const Extents& extents) {
  Schedule schedule;
  for (int kernel : {0, 1}) {
    LaunchShape launch;
    launch.kernel = kernel;
    launch.grid[0] = static_cast<uint32_t>(extents.rows * plan.split);
    launch.block[0] = static_cast<uint32_t>(plan.threads);
    schedule.launches.push_back(launch);
  }
  const int64_t partials = PartialsBytes(key, plan, extents);
  if (partials > 0) schedule.NeedScratch(partials);
  return schedule;
}

Counters PredictParts(const Key& key, const Plan& plan, const Extents& extents,
                      const DeviceSpec& device) {
  const int64_t partials = PartialsBytes(key, plan, extents);
  Counters counters = TwoPassCounters(key, extents, WholeSectors(partials), device);
  counters.l2_bytes += partials * plan.split;  // every block reads the parts of its row
  counters.l2_bytes += SharedParameterBytes(key, extents, device);
  counters.busy = BusyShare(extents.rows * plan.split, plan.blocks_per_sm, device);
  return counters;
}

constexpr EntryPoint kEntries[] = {{"_statistics", "RowStatistics"}, {"_apply", "RowApply"}};

}  // namespace

const Strategy kRowMultiPass = {.name = "multi_pass",
                                .geometry = Geometry::kRow,
                                .refusal = Refusal,
                                .propose = Propose,
                                .schedule = ScheduleParts,
                                .predict = PredictParts,
                                .skeleton = "row_multi_pass.cuh",
                                .entries = kEntries};

}  // namespace onepass
