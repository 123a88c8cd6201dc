// The host's bytes behind one lane's generic address, for operations whose lanes have little in
// common: asynchronous copies, mbarriers.
#pragma once

#include <cstdint>

#include "runtime/sim/block.h"

namespace onepass::sim {

struct LaneRange {
  uint64_t address = 0;   // generic
  int64_t bytes = 0;      // at least 1
  int64_t alignment = 1;  // a power of two
  bool store = false;
};

// Null: the range is not in one buffer, in the cluster's shared memory or in the lane's local
// memory, or misaligned; the fault has been reported.
uint8_t* LaneBytes(const Op& op, Warp& warp, int lane, const LaneRange& range);
// The same in shared memory, or in global memory; anywhere else is a fault.
uint8_t* SharedBytes(const Op& op, Warp& warp, int lane, const LaneRange& range);
uint8_t* GlobalBytes(const Op& op, Warp& warp, int lane, const LaneRange& range);

}  // namespace onepass::sim
