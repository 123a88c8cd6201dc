// persistent_block, Row: one block holds one row in registers, and in shared memory what registers
// cannot hold.
#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "codegen/capacity.h"
#include "codegen/divide.h"
#include "codegen/operators.h"
#include "codegen/strategies/rows.h"
#include "codegen/traffic.h"

namespace onepass {
namespace {

constexpr int kMaxThreads = 512;
// 160 KB of an SM's registers over kMaxThreads threads (DESIGN section 4).
constexpr int kHeldWords = 80;

int64_t RowVectors(const Key& key) { return key.reduce_class * (key.inner / key.vector()); }

int MaxRegisterVectors(const Key& key) {
  return HeldRegisterVectors(key.access_bytes, kHeldWords - ParamRegisters(key));
}

int64_t CapacityBytes(const Key& key, const DeviceSpec& device) {
  const int64_t shared_vectors = HeldSharedBytes(device) / (kMaxThreads * key.access_bytes);
  return (MaxRegisterVectors(key) + shared_vectors) * kMaxThreads * key.access_bytes;
}

std::string Refusal(const Key& key, const DeviceSpec& device) {
  if ((BitOf(key.op) & kMeasuringNorms) == 0)
    return absl::StrCat("does not compute ", ToString(key.op));
  const int64_t row = RowVectors(key) * key.access_bytes;
  const int64_t capacity = CapacityBytes(key, device);
  if (row <= capacity) return "";
  return absl::StrCat("a row of up to ", row, " bytes does not fit one block, which holds ",
                      capacity, " bytes in registers and shared memory");
}

// `per_thread` vectors a thread in blocks of `threads`.
Plan PlanWith(const Key& key, const DeviceSpec& device, int threads, int64_t per_thread) {
  Plan plan{.strategy = kRowPersistentBlock.name, .threads = threads, .vector = key.vector()};
  plan.register_vectors = static_cast<int>(std::min<int64_t>(per_thread, MaxRegisterVectors(key)));
  plan.shared_vectors = static_cast<int>(per_thread - plan.register_vectors);
  plan.write_vectors = UnrolledEpilogues(key, plan.register_vectors);
  const int words = static_cast<int>(CeilDiv(int64_t{plan.register_vectors} * key.access_bytes, 4));
  const int64_t shared = int64_t{plan.shared_vectors} * threads * key.access_bytes;
  plan.blocks_per_sm = ResidentBlocks(device, threads, WorkingRegisters(key) + words, shared);
  return plan;
}

// Blocks just large enough that a thread holds 4, 8 or 16 vectors, up to kMaxThreads.
std::vector<Plan> Propose(const Key& key, const DeviceSpec& device) {
  std::vector<Plan> plans;
  const int64_t vectors = RowVectors(key);
  for (int64_t wanted : {8, 4, 16}) {
    const auto threads =
        std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(CeilDiv(vectors, wanted), 32)));
    const int block = static_cast<int>(std::min<uint64_t>(threads, kMaxThreads));
    const Plan plan = PlanWith(key, device, block, std::max<int64_t>(CeilDiv(vectors, block), 1));
    if (std::find(plans.begin(), plans.end(), plan) == plans.end()) plans.push_back(plan);
  }
  return plans;
}

Schedule ScheduleRows(const Key& key, const Plan& plan, const Extents& extents) {
  Schedule schedule;
  LaunchShape launch;
  launch.grid[0] = static_cast<uint32_t>(extents.rows);
  launch.block[0] = static_cast<uint32_t>(plan.threads);
  launch.shared_bytes = int64_t{plan.shared_vectors} * plan.threads * key.access_bytes;
  schedule.launches.push_back(launch);
  return schedule;
}

Counters PredictRows(const Key& key, const Plan& plan, const Extents& extents,
                     const DeviceSpec& device) {
  Counters counters = OnePassCounters(key, extents, 0);
  counters.l2_bytes += SharedParameterBytes(key, extents, device);
  counters.busy = BusyShare(extents.rows, plan.blocks_per_sm, device);
  // A block that is alone on its SM loads, waits and stores in turn.
  counters.overlap = plan.blocks_per_sm == 1 ? 0.85 : 1.0;
  return counters;
}

constexpr EntryPoint kEntries[] = {{"", "RowPersistentBlock"}};

}  // namespace

const Strategy kRowPersistentBlock = {.name = "persistent_block",
                                      .geometry = Geometry::kRow,
                                      .refusal = Refusal,
                                      .propose = Propose,
                                      .schedule = ScheduleRows,
                                      .predict = PredictRows,
                                      .skeleton = "row_persistent_block.cuh",
                                      .entries = kEntries};

}  // namespace onepass
