// Whether one access of a warp races with earlier ones, and the note of it for later ones.
//
// A race is two accesses of a byte by different threads, one of them at least a write, that nothing
// orders (order.h) and that are not both strong in a scope that holds both threads. What ld.nc
// reads nobody may write in the same launch, whatever the order.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/sim/access_cells.h"
#include "runtime/sim/order.h"

namespace onepass::sim {

class RaceCheck {
 public:
  struct Conflict {
    int64_t cell = 0;
    AccessId other = 0;
    int lane = 0;  // of this access
  };

  // An access as `mine` says; `id` is that of lane 0. All references must outlive the check.
  RaceCheck(const std::vector<AccessRecord>& records, const BlockOrder& order,
            const AccessRecord& mine, AccessId id, AccessCells& cells)
      : records_(records), order_(order), mine_(mine), id_(id), cells_(cells) {}

  // All 32 lanes, lane i in the `per_lane` cells from `first` + i * per_lane: checked and noted.
  std::optional<Conflict> Dense(int64_t first, int per_lane);
  // One lane in `count` cells from `first`: checked, not noted.
  std::optional<Conflict> Check(int lane, int64_t first, int count) const;
  // Notes it. Of a write: another lane that has noted itself in the same cells since the check, or
  // -1. Only where Check found nothing.
  int Note(int lane, int64_t first, int count);

 private:
  enum class Verdict { kOrdered, kSameLane, kAskEach };

  const AccessRecord& Of(AccessId id) const { return records_[(id >> 5) - 1]; }
  Verdict VerdictOf(AccessId id) const;
  bool MayMeet(const AccessRecord& other) const;
  bool MustNotMeet(const AccessRecord& other) const;
  bool Ordered(AccessId id, int lane) const;
  template <int kPerLane>
  std::optional<Conflict> RunDense(int64_t first);
  template <int kPerLane>
  int64_t FirstUnordered(const AccessId* ids) const;
  template <int kPerLane>
  void Fill(AccessId* ids) const;
  template <int kPerLane>
  bool NoteDenseRead(int64_t first, int64_t unordered);  // unordered: the first such read
  bool SameWarp(AccessId a, AccessId b) const;
  void NoteRead(int lane, int64_t cell);

  const std::vector<AccessRecord>& records_;
  const BlockOrder& order_;
  const AccessRecord& mine_;
  const AccessId id_;
  AccessCells& cells_;
};

}  // namespace onepass::sim
