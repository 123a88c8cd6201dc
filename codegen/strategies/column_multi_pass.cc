// multi_pass, Column: statistics of tiles of columns and chunks of rows, then apply in reverse
// order.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/capacity.h"
#include "codegen/divide.h"
#include "codegen/strategies/column_tile.h"
#include "codegen/strategies/rows.h"
#include "codegen/traffic.h"

namespace onepass {
namespace {

constexpr int kThreads = 512;
constexpr int kMinSteps = 4;

std::string Refusal(const Key& key, const DeviceSpec&) {
  if (key.op != Op::kBatchNormTrain) return absl::StrCat("does not compute ", ToString(key.op));
  return "";
}

// Two waves of blocks, or one where accesses carry no hints, but at least kMinSteps rows a thread.
int SplitFor(const Key& key, const Plan& plan, const DeviceSpec& device) {
  const int64_t tiles = TilesAcross(key, plan.tile_vectors);
  const int64_t wave = int64_t{plan.blocks_per_sm} * device.sms;
  const int64_t wanted =
      HasEvictionHints(key) ? CeilDiv(2 * wave, tiles) : std::max<int64_t>(wave / tiles, 1);
  const int64_t most = key.reduce_class / (int64_t{kMinSteps} * plan.threads / plan.tile_vectors);
  const int64_t limit = std::min(most, MostSplits(key, plan, tiles));
  return static_cast<int>(std::clamp<int64_t>(wanted, 1, std::max<int64_t>(limit, 1)));
}

std::vector<Plan> Propose(const Key& key, const DeviceSpec& device) {
  std::vector<Plan> plans;
  const int widest = WidestTile(key);
  for (int tile = widest; tile >= std::max(NarrowestTile(key), widest / 2); tile /= 2) {
    Plan plan{.strategy = kColumnMultiPass.name, .threads = kThreads, .vector = key.vector()};
    plan.register_vectors = std::clamp(16 / key.vector(), 2, 8);
    plan.tile_vectors = tile;
    plan.blocks_per_sm = key.dtype == DType::kF64 ? 1 : 2;
    plan.split = SplitFor(key, plan, device);
    plans.push_back(plan);
  }
  return plans;
}

int64_t Blocks(const Key& key, const Plan& plan) {
  return TilesAcross(key, plan.tile_vectors) * plan.split;
}

int64_t PartialsBytes(const Key& key, const Plan& plan, const Extents& extents) {
  return TakesSaved(plan, extents) ? 0 : Blocks(key, plan) * PartialBytes(key, plan);
}

Schedule ScheduleTiles(const Key& key, const Plan& plan, const Extents& extents) {
  Schedule schedule;
  for (int kernel : {0, 1}) {
    LaunchShape launch;
    launch.kernel = kernel;
    launch.grid[0] = static_cast<uint32_t>(Blocks(key, plan));
    launch.block[0] = static_cast<uint32_t>(plan.threads);
    schedule.launches.push_back(launch);
  }
  const int64_t partials = PartialsBytes(key, plan, extents);
  if (partials > 0) schedule.NeedScratch(partials);
  return schedule;
}

Counters PredictTiles(const Key& key, const Plan& plan, const Extents& extents,
                      const DeviceSpec& device) {
  const int64_t workspace = PartialsBytes(key, plan, extents);
  Counters counters = TwoPassCounters(key, extents, workspace, device);
  counters.l2_bytes += workspace * plan.split;  // every block reads the partials of its tile
  counters.busy = BusyShare(Blocks(key, plan), plan.blocks_per_sm, device);
  return counters;
}

constexpr EntryPoint kEntries[] = {{"_statistics", "ColumnStatistics"}, {"_apply", "ColumnApply"}};

}  // namespace

const Strategy kColumnMultiPass = {.name = "multi_pass",
                                   .geometry = Geometry::kColumn,
                                   .refusal = Refusal,
                                   .propose = Propose,
                                   .schedule = ScheduleTiles,
                                   .predict = PredictTiles,
                                   .skeleton = "column_multi_pass.cuh",
                                   .entries = kEntries};

}  // namespace onepass
