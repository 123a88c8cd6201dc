#include "runtime/sim/bank_conflicts.h"

#include <algorithm>
#include <cstring>

namespace onepass::sim {
namespace {

// Whether no two lanes of the group need the same bank.
bool Apart(const uint64_t* offsets, uint32_t lanes, int begin, int end, int64_t words) {
  uint64_t used = 0;
  bool apart = true;
  for (int lane = begin; lane < end; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const uint64_t banks = ((uint64_t{1} << words) - 1) << (offsets[lane] >> 2 & 31);
    apart &= (used & banks) == 0;
    used |= banks;
  }
  return apart && used >> 32 == 0;
}

int GroupConflicts(const uint64_t* offsets, uint32_t lanes, int begin, int end, int64_t words) {
  if (Apart(offsets, lanes, begin, end, words)) return 0;
  uint64_t seen[32][32];  // by bank
  uint8_t count[32] = {};
  int passes = 1;
  for (int lane = begin; lane < end; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    for (int64_t i = 0; i < words; ++i) {
      const uint64_t word = (offsets[lane] >> 2) + i;
      const int bank = word & 31;
      uint64_t* words_seen = seen[bank];
      if (std::find(words_seen, words_seen + count[bank], word) != words_seen + count[bank]) {
        continue;
      }
      words_seen[count[bank]++] = word;
      passes = std::max<int>(passes, count[bank]);
    }
  }
  return passes - 1;
}

// Lane i at the first offset + i * step, all lanes: never a conflict for whole words.
bool Dense(const uint64_t* offsets, uint32_t lanes, int64_t step) {
  uint64_t difference = ~lanes;
  uint64_t uniform = ~lanes;
  for (int i = 0; i < 32; ++i) {
    difference |= offsets[i] - (offsets[0] + i * step);
    uniform |= offsets[i] ^ offsets[0];
  }
  return difference == 0 || uniform == 0;
}

}  // namespace

int BankConflicts(const uint64_t* offsets, uint32_t lanes, int64_t bytes) {
  if (Dense(offsets, lanes, bytes)) return 0;
  const int64_t words = std::max<int64_t>(bytes / 4, 1);
  const int group = static_cast<int>(32 / words);
  int conflicts = 0;
  for (int begin = 0; begin < 32; begin += group) {
    conflicts += GroupConflicts(offsets, lanes, begin, begin + group, words);
  }
  return conflicts;
}

}  // namespace onepass::sim
