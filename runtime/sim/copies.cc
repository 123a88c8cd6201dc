#include "runtime/sim/copies.h"

#include <cstring>

namespace onepass::sim {
namespace {

void Make(const AsyncCopy& copy) {
  if (copy.bytes > 0) std::memcpy(copy.to, copy.from, copy.bytes);
  std::memset(copy.to + copy.bytes, 0, copy.size - copy.bytes);
}

}  // namespace

void ThreadCopies::Add(AsyncCopy copy) {
  copy.group = groups_[copy.bulk][copy.lane];
  pending_.push_back(copy);
}

void ThreadCopies::Commit(uint32_t lanes, bool bulk) {
  for (int lane = 0; lane < 32; ++lane) groups_[bulk][lane] += lanes >> lane & 1;
}

bool ThreadCopies::IsDue(const AsyncCopy& copy, uint32_t lanes, bool bulk, uint32_t allowed,
                         bool open) const {
  const uint64_t committed = groups_[bulk][copy.lane];
  return copy.bulk == bulk && (lanes >> copy.lane & 1) != 0 &&
         (open || copy.group + uint64_t{allowed} < committed);
}

std::vector<AsyncCopy> ThreadCopies::Finish(uint32_t lanes, bool bulk, uint32_t allowed,
                                            bool open) {
  std::vector<AsyncCopy> made;
  std::erase_if(pending_, [&](const AsyncCopy& copy) {
    if (!IsDue(copy, lanes, bulk, allowed, open)) return false;
    if (!copy.made) Make(copy);
    made.push_back(copy);
    return true;
  });
  return made;
}

std::vector<AsyncCopy> ThreadCopies::FinishReads(uint32_t lanes, uint32_t allowed) {
  constexpr size_t kMostKept = 1024;  // of programs that never wait for the writes
  std::vector<AsyncCopy> made;
  for (AsyncCopy& copy : pending_) {
    if (!IsDue(copy, lanes, /*bulk=*/true, allowed, /*open=*/false)) continue;
    if (!copy.made) Make(copy);
    copy.made = true;
    made.push_back(copy);
  }
  if (pending_.size() > kMostKept) {
    std::erase_if(pending_, [](const AsyncCopy& copy) { return copy.made; });
  }
  return made;
}

}  // namespace onepass::sim
