// Asynchronous copies that threads have issued and not waited for.
//
// PTX lets such a copy happen at any time from its issue until the thread has waited for it. Here
// it happens when the thread waits: so a kernel that reads too early reads what was there before,
// every time.
#pragma once

#include <cstdint>
#include <vector>

namespace onepass::sim {

// `bytes` from `from`, then zeros up to `size`.
struct AsyncCopy {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  uint32_t bytes = 0;
  uint32_t size = 0;
  uint32_t group = 0;  // of its thread: how many had been committed before
  uint8_t lane = 0;
  bool bulk = false;  // cp.async.bulk has groups of its own
};

// The copies of one warp's threads.
class ThreadCopies {
 public:
  void Add(AsyncCopy copy);
  void Commit(uint32_t lanes, bool bulk);
  // Makes the copies of the lanes' groups but the last `allowed` that were committed. With
  // `open`, those too that are in no committed group yet. Returns how many copies were made.
  int Finish(uint32_t lanes, bool bulk, uint32_t allowed, bool open);

 private:
  std::vector<AsyncCopy> pending_;
  uint32_t groups_[2][32] = {};  // committed, by kind and lane
};

}  // namespace onepass::sim
