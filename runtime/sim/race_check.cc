#include "runtime/sim/race_check.h"

#include <algorithm>

namespace onepass::sim {

using Kind = AccessRecord::Kind;

// Both strong, in scopes that hold both.
bool RaceCheck::MayMeet(const AccessRecord& other) const {
  return mine_.strong && other.strong &&
         (other.block == mine_.block || (!mine_.block_scope && !other.block_scope));
}

// One reads what ought to be constant, the other writes: no order helps.
bool RaceCheck::MustNotMeet(const AccessRecord& other) const {
  return (mine_.read_only && other.kind != Kind::kRead) ||
         (other.read_only && mine_.kind != Kind::kRead);
}

// For all lanes of this access at once.
RaceCheck::Verdict RaceCheck::VerdictOf(AccessId id) const {
  const AccessRecord& other = Of(id);
  if (MustNotMeet(other)) return Verdict::kAskEach;
  if (MayMeet(other)) return Verdict::kOrdered;
  if (other.block != mine_.block) return Verdict::kAskEach;
  if (order_.OrderedForWarp(other.warp, other.time, mine_.warp)) return Verdict::kOrdered;
  return other.warp == mine_.warp ? Verdict::kSameLane : Verdict::kAskEach;
}

bool RaceCheck::Ordered(AccessId id, int lane) const {
  const AccessRecord& other = Of(id);
  if (MustNotMeet(other)) return false;
  return MayMeet(other) || order_.Ordered(other.block, other.warp, static_cast<int>(id & 31),
                                          other.time, mine_.warp, lane);
}

bool RaceCheck::SameWarp(AccessId a, AccessId b) const {
  return Of(a).block == Of(b).block && Of(a).warp == Of(b).warp;
}

// The first of 32 * kPerLane cells that holds an access which its lane is not ordered behind; -1.
template <int kPerLane>
int64_t RaceCheck::FirstUnordered(const AccessId* ids) const {
  constexpr int kCells = 32 * kPerLane;
  AccessId any = 0, apart = 0;
#pragma GCC ivdep
  for (int i = 0; i < kCells; ++i) {
    any |= ids[i];
    apart |= ids[i] ^ (ids[0] + static_cast<AccessId>(i / kPerLane));
  }
  if (any == 0) return -1;
  if (apart == 0 && (ids[0] & 31) == 0) {  // one access of a warp, lane by lane as this one
    const Verdict verdict = VerdictOf(ids[0]);
    if (verdict != Verdict::kAskEach) return -1;
  } else {
    AccessId different = 0;
#pragma GCC ivdep
    for (int i = 0; i < kCells; ++i) different |= (ids[i] ^ ids[0]) >> 5;
    if (different == 0 && VerdictOf(ids[0]) == Verdict::kOrdered) return -1;
  }
  AccessId ordered = 0;  // for all lanes
  for (int i = 0; i < kCells; ++i) {
    if (ids[i] == 0 || ids[i] >> 5 == ordered) continue;
    if (VerdictOf(ids[i]) == Verdict::kOrdered) {
      ordered = ids[i] >> 5;
    } else if (!Ordered(ids[i], i / kPerLane)) {
      return i;
    }
  }
  return -1;
}

template <int kPerLane>
void RaceCheck::Fill(AccessId* ids) const {
#pragma GCC ivdep
  for (int i = 0; i < 32 * kPerLane; ++i) ids[i] = id_ + static_cast<AccessId>(i / kPerLane);
}

// Whether the note was simple enough to be made for all cells at once.
template <int kPerLane>
bool RaceCheck::NoteDenseRead(int64_t first, int64_t unordered) {
  AccessId* reads = cells_.reads() + first;
  if (unordered < 0) {
    Fill<kPerLane>(reads);
    return true;
  }
  AccessId* others = cells_.others() + first;
  if (FirstUnordered<kPerLane>(others) < 0) {
    // A cell whose first reader was ordered gets this one twice, which does no harm.
    Fill<kPerLane>(others);
    cells_.any_others = true;
    return true;
  }
  AccessId different = 0;
  for (int i = 0; i < 32 * kPerLane; ++i) {
    different |= (reads[i] ^ reads[0]) >> 5 | (others[i] ^ others[0]) >> 5;
  }
  return different == 0 && !SameWarp(reads[0], others[0]);
}

template <int kPerLane>
std::optional<RaceCheck::Conflict> RaceCheck::RunDense(int64_t first) {
  const auto conflict = [&](const AccessId* ids, int64_t at) {
    return Conflict{first + at, ids[first + at], static_cast<int>(at / kPerLane)};
  };
  AccessId* writes = cells_.writes();
  if (const int64_t at = FirstUnordered<kPerLane>(writes + first); at >= 0) {
    return conflict(writes, at);
  }
  if (mine_.kind == Kind::kRead) {
    cells_.any_reads = true;
    const int64_t at = FirstUnordered<kPerLane>(cells_.reads() + first);
    if (at >= 0 && Of(cells_.reads()[first + at]).kind != Kind::kRead) {
      return conflict(cells_.reads(), at);
    }
    if (NoteDenseRead<kPerLane>(first, at)) return std::nullopt;
    for (int i = 0; i < 32 * kPerLane; ++i) NoteRead(i / kPerLane, first + i);
    return std::nullopt;
  }
  for (AccessId* ids : {cells_.any_reads ? cells_.reads() : nullptr,
                        cells_.any_others ? cells_.others() : nullptr}) {
    if (ids == nullptr) continue;
    const int64_t at = FirstUnordered<kPerLane>(ids + first);
    if (at >= 0) return conflict(ids, at);
    std::fill_n(ids + first, 32 * kPerLane, AccessId{0});
  }
  Fill<kPerLane>(writes + first);
  return std::nullopt;
}

std::optional<RaceCheck::Conflict> RaceCheck::Dense(int64_t first, int per_lane) {
  switch (per_lane) {
    case 1:
      return RunDense<1>(first);
    case 2:
      return RunDense<2>(first);
    case 4:
      return RunDense<4>(first);
    case 8:
      return RunDense<8>(first);
    case 16:
      return RunDense<16>(first);
    default:
      return RunDense<32>(first);
  }
}

std::optional<RaceCheck::Conflict> RaceCheck::Check(int lane, int64_t first, int count) const {
  for (int64_t cell = first; cell < first + count; ++cell) {
    const AccessId write = cells_.writes()[cell];
    if (write != 0 && !Ordered(write, lane)) return Conflict{cell, write, lane};
    for (const AccessId* ids : {cells_.reads(), cells_.others()}) {
      const AccessId id = ids[cell];
      if (id == 0) continue;
      // Atomics that nothing orders are kept here: a weak read races with them as well.
      const bool both_read = mine_.kind == Kind::kRead && Of(id).kind == Kind::kRead;
      if (!both_read && !Ordered(id, lane)) return Conflict{cell, id, lane};
    }
  }
  return std::nullopt;
}

void RaceCheck::NoteRead(int lane, int64_t cell) {
  const AccessId mine = id_ + static_cast<AccessId>(lane);
  AccessId& read = cells_.reads()[cell];
  if (read == 0 || Ordered(read, lane)) {
    read = mine;
    return;
  }
  AccessId& other = cells_.others()[cell];
  cells_.any_others = true;
  if (other == 0 || Ordered(other, lane) || SameWarp(read, other)) other = mine;
}

int RaceCheck::Note(int lane, int64_t first, int count) {
  const AccessId mine = id_ + static_cast<AccessId>(lane);
  int clash = -1;
  if (mine_.kind == Kind::kRead) {
    cells_.any_reads = true;
    for (int64_t cell = first; cell < first + count; ++cell) NoteRead(lane, cell);
    return clash;
  }
  for (int64_t cell = first; cell < first + count; ++cell) {
    AccessId& write = cells_.writes()[cell];
    if (write >> 5 == mine >> 5 && write != mine) clash = static_cast<int>(write & 31);
    const bool both_atomic = write != 0 && mine_.kind == Kind::kUpdate && Of(write).strong;
    const AccessId kept = both_atomic && write >> 5 != mine >> 5 ? write : 0;
    if (cells_.any_reads || kept != 0) cells_.reads()[cell] = kept;
    cells_.any_reads |= kept != 0;
    if (cells_.any_others) cells_.others()[cell] = 0;
    write = mine;
  }
  return clash;
}

}  // namespace onepass::sim
