#include "runtime/sim/copies.h"

#include <cstring>

namespace onepass::sim {

void ThreadCopies::Add(AsyncCopy copy) {
  copy.group = groups_[copy.bulk][copy.lane];
  pending_.push_back(copy);
}

void ThreadCopies::Commit(uint32_t lanes, bool bulk) {
  for (int lane = 0; lane < 32; ++lane) groups_[bulk][lane] += lanes >> lane & 1;
}

int ThreadCopies::Finish(uint32_t lanes, bool bulk, uint32_t allowed, bool open) {
  int made = 0;
  std::erase_if(pending_, [&](const AsyncCopy& copy) {
    const uint64_t committed = groups_[bulk][copy.lane];
    const bool due = open || copy.group + uint64_t{allowed} < committed;
    if (copy.bulk != bulk || (lanes >> copy.lane & 1) == 0 || !due) return false;
    std::memcpy(copy.to, copy.from, copy.bytes);
    std::memset(copy.to + copy.bytes, 0, copy.size - copy.bytes);
    ++made;
    return true;
  });
  return made;
}

}  // namespace onepass::sim
