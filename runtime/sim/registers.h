// Gives the virtual registers of a draft places in a warp's register file.
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/sim/control_flow.h"
#include "runtime/sim/draft.h"

namespace onepass::sim {

struct Allocation {
  std::vector<RowRef> place;  // by virtual register: bytes from the start of the file; -1: not used
  int64_t bytes = 0;          // of the file of one warp, a multiple of 64
  int64_t mask_begin = 0;     // where the predicates are in it
  std::vector<int32_t> live_at_start;  // registers that a path reads before it writes them
  int live_registers = 0;  // the most 32-bit registers of a thread that are live at once
};

// For each of the operations `before`: the registers that are live where it begins.
std::vector<std::vector<int>> LiveBefore(const Draft& draft, const ControlFlow& flow,
                                         llvm::ArrayRef<int> before);

// Registers whose lifetimes do not meet share a place. Lanes are independent, so this holds for
// diverged warps as well: a lane only touches its own column. Rows of one class share with their
// own class only, so rows are either the same or disjoint.
Allocation Allocate(const Draft& draft, const ControlFlow& flow);

}  // namespace onepass::sim
