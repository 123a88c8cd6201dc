// A small random number generator whose sequence depends on its seed alone.
#pragma once

#include <cstdint>

namespace onepass::sim {

class Random {
 public:
  Random() = default;
  // Mixed twice: the sequences of neighbouring seeds have nothing in common.
  Random(uint64_t seed, uint64_t stream) : state_(Mixed(Mixed(seed) ^ stream)) {}

  uint64_t Next() { return Mixed(state_ += 0x9e3779b97f4a7c15u); }
  // In [0, end); `end` is not 0. The bias does not matter here.
  uint64_t Below(uint64_t end) { return Next() % end; }

 private:
  static uint64_t Mixed(uint64_t z) {  // splitmix64
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  uint64_t state_ = 0;
};

}  // namespace onepass::sim
