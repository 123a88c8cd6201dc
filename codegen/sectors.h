// Counting 32-byte sectors, the unit of DRAM traffic.
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/ADT/SmallVector.h"

namespace onepass {

inline constexpr int64_t kSectorBytes = 32;

// Positions along one axis of a strided tensor.
struct SectorAxis {
  int64_t stride = 1;              // bytes
  int64_t count = 1;               // positions 0 to count-1, unless listed
  std::vector<int64_t> positions;  // ascending; empty: all
};

// The number of distinct sectors that hold at least one byte of the elements at all combinations of
// positions. `begin` is the address of the element at position 0 of every axis; an element does not
// cross a sector. Exact, whatever the strides, and quick where axes nest; tensors that span more
// than 256 GB with interleaved axes are bounded from above instead.
int64_t CountSectors(int64_t begin, int64_t element_bytes, llvm::SmallVector<SectorAxis, 5> axes);

}  // namespace onepass
