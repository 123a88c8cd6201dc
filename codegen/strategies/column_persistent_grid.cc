// persistent_grid, Column: channel slabs held by all co-resident blocks, a barrier among the blocks
// of a tile.
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "codegen/capacity.h"
#include "codegen/divide.h"
#include "codegen/strategies/column_tile.h"
#include "codegen/strategies/rows.h"
#include "codegen/traffic.h"

namespace onepass {
namespace {

constexpr int kThreads = 512;
// Fewer words than a Row block: the sums and maps of a vector's columns need registers too, two
// more a column (four in f64). Measured with NVRTC 13.0 for sm_80, sm_90 and sm_100: no spills.
constexpr int kHeldWords = 60;
// The moments of kThreads threads, the maps and partial sums of up to 256 columns.
constexpr int64_t kStaticSharedBytes = 4096 + 12 * 1024;
constexpr int64_t kBarrierBytes = 8;
// A block should have this many rows a thread before a tile is split further.
constexpr int kMinSteps = 4;

int64_t StaticShared(const Key& key) {
  return kStaticSharedBytes * SizeOf(AccumulationType(key.dtype)) / 4;
}

int MaxRegisterVectors(const Key& key) {
  const int words = kHeldWords - 2 * key.vector() * SizeOf(AccumulationType(key.dtype)) / 4;
  return HeldRegisterVectors(key.access_bytes, key.dtype == DType::kF64 ? words - 16 : words);
}

int64_t MaxSteps(const Key& key, const DeviceSpec& device) {
  return MaxRegisterVectors(key) +
         HeldSharedBytes(device, StaticShared(key)) / (kThreads * key.access_bytes);
}

// The widest slab of whole tiles that fits, split over as many blocks as are co-resident; none if
// not even one tile of all rows fits the chip.
std::optional<Plan> PlanWithTile(const Key& key, const DeviceSpec& device, int tile_vectors) {
  Plan plan{.strategy = kColumnPersistentGrid.name, .threads = kThreads, .vector = key.vector()};
  plan.tile_vectors = tile_vectors;
  const int64_t tiles = TilesAcross(key, tile_vectors);
  const int64_t row_step = kThreads / tile_vectors;
  const int64_t max_steps = MaxSteps(key, device);
  const int64_t most_splits = std::max<int64_t>(key.reduce_class / (row_step * kMinSteps), 1);
  for (int64_t wanted = std::min<int64_t>(tiles, device.sms); wanted >= 1; --wanted) {
    plan.slabs = static_cast<int>(CeilDiv(tiles, wanted));
    const int64_t in_slab = CeilDiv(tiles, plan.slabs);
    plan.split = static_cast<int>(
        std::min({most_splits, MostSplits(key, plan, in_slab), device.sms / in_slab}));
    const int64_t steps = CeilDiv(CeilDiv(key.reduce_class, plan.split), row_step);
    if (steps > max_steps) continue;
    if (plan.split == 1) plan.slabs = 1;  // nobody waits for anybody: as many blocks as tiles
    plan.register_vectors = static_cast<int>(std::min<int64_t>(steps, MaxRegisterVectors(key)));
    plan.shared_vectors = static_cast<int>(steps - plan.register_vectors);
    plan.write_vectors = UnrolledEpilogues(key, plan.register_vectors);
    return plan;
  }
  return std::nullopt;
}

std::vector<Plan> Propose(const Key& key, const DeviceSpec& device) {
  std::vector<Plan> plans;
  for (int tile = NarrowestTile(key); tile <= WidestTile(key); tile *= 2) {
    if (std::optional<Plan> plan = PlanWithTile(key, device, tile)) plans.push_back(*plan);
  }
  return plans;
}

std::string Refusal(const Key& key, const DeviceSpec& device) {
  if (key.op != Op::kBatchNormTrain) return absl::StrCat("does not compute ", ToString(key.op));
  if (!Propose(key, device).empty()) return "";
  const int64_t width = int64_t{NarrowestTile(key)} * key.access_bytes;
  const int64_t capacity = MaxSteps(key, device) * kThreads * key.access_bytes * device.sms;
  return absl::StrCat("a slab of ", width, " bytes times ", key.reduce_class,
                      " rows does not fit the chip, which holds ", capacity, " bytes");
}

int64_t TilesInSlab(const Key& key, const Plan& plan) {
  return CeilDiv(TilesAcross(key, plan.tile_vectors), plan.slabs);
}

// Barrier words and two parities of moments; nothing where no block waits.
int64_t WorkspaceBytes(const Key& key, const Plan& plan) {
  if (plan.split == 1) return 0;
  const int64_t tiles = TilesInSlab(key, plan);
  return WholeSectors(tiles * kBarrierBytes) + 2 * tiles * plan.split * PartialBytes(key, plan);
}

Schedule ScheduleSlabs(const Key& key, const Plan& plan, const Extents&) {
  Schedule schedule;
  LaunchShape launch;
  launch.grid[0] = static_cast<uint32_t>(TilesInSlab(key, plan) * plan.split);
  launch.block[0] = static_cast<uint32_t>(plan.threads);
  launch.shared_bytes = int64_t{plan.shared_vectors} * plan.threads * key.access_bytes;
  launch.cooperative = plan.split > 1;
  schedule.launches.push_back(launch);
  schedule.workspace_bytes = WorkspaceBytes(key, plan);
  if (plan.split > 1) schedule.barrier_bytes = TilesInSlab(key, plan) * kBarrierBytes;
  return schedule;
}

Counters PredictSlabs(const Key& key, const Plan& plan, const Extents& extents,
                      const DeviceSpec& device) {
  const int64_t blocks = TilesInSlab(key, plan) * plan.split;
  const int64_t parities = std::min(plan.slabs, 2);
  const int64_t written = plan.split == 1 ? 0 : blocks * parities * PartialBytes(key, plan);
  Counters counters = OnePassCounters(key, extents, written);
  if (plan.split > 1) {
    const int64_t barrier_words = WholeSectors(TilesInSlab(key, plan) * kBarrierBytes);
    counters.dram_read_bytes += barrier_words;
    counters.dram_write_bytes += barrier_words;
    counters.l2_bytes += blocks * plan.split * PartialBytes(key, plan) * plan.slabs;
    counters.grid_barriers = plan.slabs;
  }
  counters.busy = BusyShare(blocks, plan.blocks_per_sm, device);
  counters.overlap = plan.split > 1 || plan.blocks_per_sm == 1 ? 0.85 : 1.0;
  return counters;
}

constexpr EntryPoint kEntries[] = {{"", "ColumnPersistentGrid"}};

}  // namespace

const Strategy kColumnPersistentGrid = {.name = "persistent_grid",
                                        .geometry = Geometry::kColumn,
                                        .refusal = Refusal,
                                        .propose = Propose,
                                        .schedule = ScheduleSlabs,
                                        .predict = PredictSlabs,
                                        .skeleton = "column_persistent_grid.cuh",
                                        .entries = kEntries};

}  // namespace onepass
