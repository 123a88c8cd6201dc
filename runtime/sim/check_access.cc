// What the checkers look for in an access, once it is known where it goes.
#include <bit>

#include "absl/strings/str_format.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/race_check.h"
#include "runtime/sim/where.h"

namespace onepass::sim {
namespace {

using F = AccessFlags;
using Kind = AccessRecord::Kind;

// Of .cta scope, or of .cluster where a cluster is one block. A larger one counts as the device.
bool HasBlockScope(const Launch& launch, uint32_t flags) {
  const bool cluster = (flags & F::kClusterScope) != 0 && launch.cluster_blocks == 1;
  return cluster || (flags & F::kBlockScope) != 0;
}

Strength StrengthOf(const Launch& launch, uint32_t flags) {
  return {(flags & F::kAcquire) != 0, (flags & F::kRelease) != 0, HasBlockScope(launch, flags)};
}

template <class Fn>
void EachLane(uint32_t lanes, Fn fn) {
  for (; lanes != 0; lanes &= lanes - 1) fn(std::countr_zero(lanes));
}

// Of lanes at the same place two stand for all: one of them is not the thread that was there
// before.
uint32_t Representatives(uint32_t lanes) {
  const uint32_t highest = uint32_t{1} << (31 - std::countl_zero(lanes));
  return (lanes & (0 - lanes)) | highest;
}

AccessRecord RecordOf(const Op& op, const Warp& warp, Kind kind) {
  AccessRecord mine;
  mine.block = static_cast<uint32_t>(warp.block->index);
  mine.op = IndexOf(warp, op);
  mine.time = warp.block->checks->order.Now(warp.index);
  mine.warp = static_cast<uint8_t>(warp.index);
  mine.kind = kind;
  mine.strong = (op.flags & F::kStrongOrder) != 0;
  mine.block_scope = HasBlockScope(*warp.block->launch, op.flags);
  mine.read_only = (op.flags & F::kReadOnly) != 0;
  mine.proxy_fences = warp.block->cluster->proxy_fences;
  return mine;
}

}  // namespace

Checker::Places::Places(const uint64_t* offsets, uint32_t of_lanes, int bytes)
    : offset(offsets), lanes(of_lanes) {
  const uint64_t first = offsets[std::countr_zero(lanes)];
  uint64_t apart = ~lanes, different = 0;
  for (int i = 0; i < 32; ++i) {
    apart |= offsets[i] - (offsets[0] + i * static_cast<uint64_t>(bytes));
    different |= (lanes >> i & 1) != 0 ? offsets[i] ^ first : 0;
  }
  dense = apart == 0;
  uniform = different == 0;
}

uint32_t AccessRecords::IndexFor(const AccessRecord& mine, uint32_t* latest) {
  if (latest != nullptr && *latest < all.size()) {
    const AccessRecord& record = all[*latest];
    if (record.op == mine.op && record.time == mine.time && record.warp == mine.warp &&
        record.block == mine.block && record.proxy_fences == mine.proxy_fences) {
      return *latest;
    }
  }
  all.push_back(mine);
  const uint32_t index = static_cast<uint32_t>(all.size()) - 1;
  if (latest != nullptr) *latest = index;
  return index;
}

void Checker::CheckWritten(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                           const Places& places) {
  ByteSet& written = *target.written;
  if (!written.tracked()) return;
  const bool dense = places.dense;
  if (doing.kind == Kind::kWrite) {
    if (dense) written.Add(places.offset[0], 32 * doing.bytes);
    if (!dense) EachLane(places.lanes, [&](int i) { written.Add(places.offset[i], doing.bytes); });
    return ForgetUndefined(op, warp, doing, written, places);
  }
  if (dense && written.HasAll(places.offset[0], 32 * doing.bytes)) return;
  CheckRead(op, warp, doing, written, places,
            [&](uint64_t byte) { return PlaceOf(*warp.block->launch, doing, target, byte); });
}

// What is stored is undefined: the memory is as if nobody had written it.
void Checker::ForgetUndefined(const Op& op, const Warp& warp, const Doing& doing, ByteSet& written,
                              const Places& places) {
  const RegisterCheck& registers = warp.block->checks->registers[warp.index];
  if (!registers.following() || doing.values < 0) return;
  for (int n = 0; n < doing.bytes / doing.element_bytes; ++n) {
    EachLane(registers.UndefinedLanes(op.r[doing.values + n]) & places.lanes, [&](int lane) {
      written.Remove(places.offset[lane] + n * doing.element_bytes, doing.element_bytes);
    });
  }
}

// Marks the registers that get what nobody wrote. An atomic depends on it at once.
void Checker::CheckRead(const Op& op, Warp& warp, const Doing& doing, ByteSet& written,
                        const Places& places, const std::function<std::string(uint64_t)>& place) {
  if (doing.values < 0) return;
  EachLane(places.uniform ? places.lanes & (0 - places.lanes) : places.lanes, [&](int lane) {
    if (written.HasAll(places.offset[lane], doing.bytes)) return;
    uint64_t byte = places.offset[lane];
    while (written.Has(byte)) ++byte;
    const uint32_t origin = OriginFor(warp, op, lane, [&] { return place(byte); });
    if (doing.kind == Kind::kUpdate) {
      return ReportUse(warp, op, 1u << lane, origin, "the atomic depends on");
    }
    for (int n = 0; n < doing.bytes / doing.element_bytes; ++n) {
      const uint64_t at = places.offset[lane] + n * doing.element_bytes;
      if (written.HasAll(at, doing.element_bytes)) continue;
      warp.block->checks->registers[warp.index].SetUndefined(
          op.r[doing.values + n], places.uniform ? places.lanes : 1u << lane, origin);
    }
  });
  if (doing.kind != Kind::kUpdate) return;
  EachLane(places.lanes, [&](int lane) { written.Add(places.offset[lane], doing.bytes); });
}

void Checker::Loaded(const Op& op, Warp& warp, RowRef ref, int lane, uint64_t offset, int bytes) {
  BlockChecks& checks = *warp.block->checks;
  if (checks.written.HasAll(offset, bytes)) return;
  const uint32_t origin = OriginFor(warp, op, lane, [&] {
    return SharedPlace(*warp.block->launch, static_cast<int64_t>(offset), bytes);
  });
  checks.registers[warp.index].SetUndefined(ref, 1u << lane, origin);
}

void Checker::CheckLocal(const Op& op, Warp& warp, const Doing& doing, const HostBytes& bytes) {
  Block& block = *warp.block;
  ByteSet& written = block.checks->written_local;
  const int64_t size = block.launch->kernel->local_bytes;
  const uint64_t warp_begin = static_cast<uint64_t>(warp.index) * 32 * size;
  alignas(64) uint64_t offsets[32];
  for (int i = 0; i < 32; ++i) offsets[i] = warp_begin + bytes.offset[i];
  const Places places(offsets, warp.exec, doing.bytes);
  if (doing.kind == Kind::kWrite) {
    EachLane(warp.exec, [&](int lane) { written.Add(offsets[lane], doing.bytes); });
    return ForgetUndefined(op, warp, doing, written, places);
  }
  CheckRead(op, warp, doing, written, places, [&](uint64_t byte) {
    return absl::StrFormat("local memory (byte %d of %d)", byte % size, size);
  });
}

// What a strong access hands over or takes.
void Checker::Synchronise(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                          const Places& places) {
  if ((op.flags & F::kStrongOrder) == 0) return;
  const Strength strength = StrengthOf(*warp.block->launch, op.flags);
  BlockOrder& order = warp.block->checks->order;
  const uint64_t begin = target.buffer == nullptr ? 0 : target.buffer->begin;
  EachLane(places.lanes, [&](int lane) {
    const uint64_t word = begin + places.offset[lane];
    const auto found = target.words->find(word);
    if (doing.kind != Kind::kWrite && found != target.words->end()) {
      order.Acquire(warp.index, lane, found->second, strength);
    }
    if (doing.kind == Kind::kRead) return;
    const bool gives = order.HasReleased(warp.index, lane, strength);
    if (!gives && found == target.words->end()) return;
    order.Release(warp.index, lane, (*target.words)[word], strength,
                  /*replaces=*/doing.kind == Kind::kWrite);
  });
}

void Checker::CheckRace(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                        const Places& places) {
  target.cells->Refine(doing.bytes);
  if (target.records->all.size() >= AccessRecords::kMost) Forget(target);
  const AccessRecord mine = RecordOf(op, warp, doing.kind);
  if (target.owner != nullptr && target.owner != warp.block) {
    NoteVisit(op, warp, places.lanes, *target.owner, mine);
  }
  const uint32_t slot = warp.index * BlockChecks::kLatest + mine.op % BlockChecks::kLatest;
  const uint32_t index =
      target.records->IndexFor(mine, target.latest == nullptr ? nullptr : &(*target.latest)[slot]);
  RaceCheck check(target.records->all, warp.block->checks->order, mine, (index + 1) << 5,
                  *target.cells);
  const auto cell_of = [&](int lane) {
    return static_cast<int64_t>((places.offset[lane] + target.pad) >> target.cells->shift());
  };
  const int count = doing.bytes >> target.cells->shift();
  if (doing.kind != Kind::kUpdate && places.dense) {
    const auto conflict = check.Dense(cell_of(0), count);
    if (conflict) ReportRace(op, warp, doing, target, *conflict);
    return;
  }
  uint32_t lanes = places.lanes;
  if (doing.kind == Kind::kRead && places.uniform) lanes = Representatives(lanes);
  bool raced = false;
  EachLane(lanes, [&](int lane) {
    const auto conflict = check.Check(lane, cell_of(lane), count);
    if (conflict) ReportRace(op, warp, doing, target, *conflict);
    raced |= conflict.has_value();
  });
  EachLane(lanes, [&](int lane) {
    const int other = check.Note(lane, cell_of(lane), count);
    if (other < 0 || raced || doing.kind != Kind::kWrite) return;
    ReportClash(op, warp, doing, target, places.offset[lane], lane, other);
  });
}

// There is no room for more records: what has been seen so far cannot race any more.
void Checker::Forget(const Target& target) {
  target.records->all.clear();
  if (target.buffer == nullptr) return target.cells->Reset(target.cells->bytes());
  for (auto& cells : cells_) {
    if (cells != nullptr) cells->Reset(cells->bytes());
  }
}

}  // namespace onepass::sim
