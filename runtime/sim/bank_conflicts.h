// How often a warp's access to shared memory has to be repeated.
#pragma once

#include <cstdint>

namespace onepass::sim {

// Passes over the 32 banks of 4 bytes beyond the first of each group. Accesses of up to 4 bytes
// form one group of 32 lanes, of 8 bytes two of 16, of 16 bytes four of 8. Lanes that touch the
// same word share it.
int BankConflicts(const uint64_t* offsets, uint32_t lanes, int64_t bytes);

}  // namespace onepass::sim
