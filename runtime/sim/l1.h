// The L1 of an SM, or a block's share of it: 128-byte lines with 32-byte sectors, four ways,
// write-through without allocation (so stores do not come here).
#pragma once

#include <cstdint>
#include <vector>

namespace onepass::sim {

class L1 {
 public:
  // Empties the cache. `bytes` is rounded down to what the ways make whole; under 512: no cache.
  void Reset(int64_t bytes);

  // Which of the `sectors` (four bits) of `line` are missing. They are present afterwards if
  // `fill`.
  uint32_t Miss(uint64_t line, uint32_t sectors, bool fill) {
    if (sets_ == 0) return sectors;
    uint64_t* set = &ways_[(line & (sets_ - 1)) * kWays];
    for (int way = 0; way < kWays; ++way) {
      if (set[way] >> 4 != line) continue;
      const uint32_t missing = sectors & ~static_cast<uint32_t>(set[way]);
      if (fill) set[way] |= missing;
      return missing;
    }
    if (fill) {  // the oldest goes
      for (int way = kWays - 1; way > 0; --way) set[way] = set[way - 1];
      set[0] = line << 4 | sectors;
    }
    return sectors;
  }

 private:
  static constexpr int kWays = 4;
  uint64_t sets_ = 0;
  std::vector<uint64_t> ways_;  // line * 16 + valid sectors; 0 is an empty way
};

}  // namespace onepass::sim
