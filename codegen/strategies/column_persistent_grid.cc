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
// more a column (four in f64), and so does the precision of 32- and 64-bit types. Measured with
// NVRTC 13.0 for sm_80, sm_90 and sm_100: no spills.
constexpr int kHeldWords = 60;
constexpr int64_t kBarrierWordsBytes = 8;  // of a tile
// Alignment between static and dynamic shared memory, and what a launch may add.
constexpr int64_t kSharedSlackBytes = 1024;
// A block should have this many rows a thread before a tile is split further.
constexpr int kMinSteps = 4;

// What templates/column_persistent_grid.cuh declares: squares of every warp or moments of every
// thread, and for each column its map and its own spread.
int64_t StaticSharedBytes(const Key& key, int tile_vectors) {
  const int64_t columns = int64_t{tile_vectors} * key.vector();
  const int64_t squares = SquaresValues(key);
  const int64_t values = std::max(kThreads / 32 * columns * squares, kThreads * (2 + squares)) +
                         columns * (2 + squares) + columns * (1 + squares);
  return values * SizeOf(AccumulationType(key.dtype)) + kSharedSlackBytes;
}

int MaxRegisterVectors(const Key& key) {
  const int words = kHeldWords - 2 * key.vector() * SizeOf(AccumulationType(key.dtype)) / 4;
  const int precision = key.dtype == DType::kF64 ? 28 : (key.dtype == DType::kF32 ? 4 : 0);
  return HeldRegisterVectors(key.access_bytes, words - precision);
}

int64_t MaxSteps(const Key& key, const DeviceSpec& device, int tile_vectors) {
  const int64_t shared = HeldSharedBytes(device, StaticSharedBytes(key, tile_vectors));
  return MaxRegisterVectors(key) + shared / (kThreads * key.access_bytes);
}

// The most blocks that it pays to split a tile over: rows for every thread, and moments that are no
// traffic.
int64_t WorthwhileSplits(const Key& key, const Plan& plan, int64_t tiles) {
  const int64_t by_rows = key.reduce_class / (int64_t{kThreads} / plan.tile_vectors * kMinSteps);
  return std::max<int64_t>(std::min(by_rows, MostSplits(key, plan, tiles)), 1);
}

// Otherwise neighbouring slabs share a sector of every row, which then moves twice.
bool RowsAreWholeSectors(const Key& key) {
  return key.inner * key.element_bytes() % kSectorBytes == 0;
}

// Fills in what a thread holds; false where `steps` vectors are too many.
bool Hold(int64_t steps, const Key& key, const DeviceSpec& device, Plan& plan) {
  if (steps > MaxSteps(key, device, plan.tile_vectors)) return false;
  plan.register_vectors = static_cast<int>(std::min<int64_t>(steps, MaxRegisterVectors(key)));
  plan.shared_vectors = static_cast<int>(steps - plan.register_vectors);
  plan.write_vectors = UnrolledEpilogues(key, plan.register_vectors);
  return true;
}

// The widest slab of whole tiles that fits, split over as many blocks as it pays to, or failing
// that over all that are co-resident; none if not even one tile of all rows fits the chip.
std::optional<Plan> PlanWithTile(const Key& key, const DeviceSpec& device, int tile_vectors) {
  Plan plan{.strategy = kColumnPersistentGrid.name, .threads = kThreads, .vector = key.vector()};
  plan.tile_vectors = tile_vectors;
  const int64_t tiles = TilesAcross(key, tile_vectors);
  for (const bool thrifty : {true, false}) {
    for (int64_t wanted = std::min<int64_t>(tiles, device.sms); wanted >= 1; --wanted) {
      plan.slabs = static_cast<int>(CeilDiv(tiles, wanted));
      const int64_t in_slab = CeilDiv(tiles, plan.slabs);
      const int64_t resident = device.sms / in_slab;
      plan.split = static_cast<int>(
          thrifty ? std::min(resident, WorthwhileSplits(key, plan, in_slab)) : resident);
      const int64_t steps = CeilDiv(CeilDiv(key.reduce_class, plan.split), kThreads / tile_vectors);
      if (!Hold(steps, key, device, plan)) continue;
      if (plan.split > 1 && plan.slabs > 1 && !RowsAreWholeSectors(key)) continue;
      if (plan.split == 1) plan.slabs = 1;  // nobody waits for anybody: as many blocks as tiles
      return plan;
    }
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
  const int64_t capacity =
      MaxSteps(key, device, NarrowestTile(key)) * kThreads * key.access_bytes * device.sms;
  if (!RowsAreWholeSectors(key)) {
    const int64_t tile = int64_t{NarrowestTile(key)} * key.access_bytes;
    const int64_t padded = TilesAcross(key, NarrowestTile(key)) * tile;
    return absl::StrCat("rows of ", key.inner * key.element_bytes(),
                        " bytes are no whole sectors, so that only one slab of all columns would ",
                        "do: ", padded, " bytes in tiles of ", tile, ", times ", key.reduce_class,
                        " rows over whole blocks, do not fit the chip, which holds ", capacity,
                        " bytes");
  }
  const int64_t width = int64_t{NarrowestTile(key)} * key.access_bytes;
  return absl::StrCat("a slab of ", width, " bytes times ", key.reduce_class,
                      " rows does not fit the chip, which holds ", capacity, " bytes");
}

int64_t TilesInSlab(const Key& key, const Plan& plan) {
  return CeilDiv(TilesAcross(key, plan.tile_vectors), plan.slabs);
}

Schedule ScheduleSlabs(const Key& key, const Plan& plan, const Extents&) {
  Schedule schedule;
  LaunchShape launch;
  launch.grid[0] = static_cast<uint32_t>(TilesInSlab(key, plan) * plan.split);
  launch.block[0] = static_cast<uint32_t>(plan.threads);
  launch.shared_bytes = int64_t{plan.shared_vectors} * plan.threads * key.access_bytes;
  launch.cooperative = plan.split > 1;
  schedule.launches.push_back(launch);
  // Two parities of moments; nothing where no block waits.
  if (plan.split > 1) schedule.NeedScratch(2 * launch.grid[0] * PartialBytes(key, plan));
  return schedule;
}

Counters PredictSlabs(const Key& key, const Plan& plan, const Extents& extents,
                      const DeviceSpec& device) {
  const int64_t tiles = TilesInSlab(key, plan), blocks = tiles * plan.split;
  const int64_t parities = std::min(plan.slabs, 2);
  const int64_t moments = plan.split == 1 ? 0 : blocks * PartialBytes(key, plan);  // of one slab
  Counters counters = OnePassCounters(key, extents, parities * moments);
  if (plan.split > 1) {
    const int64_t barrier_words = WholeSectors(tiles * kBarrierWordsBytes);
    counters.dram_read_bytes += barrier_words;
    counters.dram_write_bytes += barrier_words;
    counters.l2_bytes += (plan.slabs - parities) * moments + plan.slabs * moments * plan.split;
    counters.grid_barriers = plan.slabs;
  }
  counters.busy = BusyShare(blocks, plan.blocks_per_sm, device);
  counters.overlap = 0.85;  // one block an SM, which loads, waits and stores in turn
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
