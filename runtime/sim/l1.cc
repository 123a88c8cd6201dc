#include "runtime/sim/l1.h"

#include <algorithm>
#include <bit>

namespace onepass::sim {

void L1::Reset(int64_t bytes) {
  const uint64_t lines = static_cast<uint64_t>(std::max<int64_t>(bytes, 0)) / 128;
  sets_ = lines < kWays ? 0 : std::bit_floor(lines / kWays);
  ways_.assign(sets_ * kWays, 0);
}

}  // namespace onepass::sim
