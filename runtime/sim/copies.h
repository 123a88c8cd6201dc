// Asynchronous copies that threads have issued and not waited for.
//
// PTX lets such a copy happen at any time from its issue until the thread has waited for it. Here
// it happens when the thread waits: so a kernel that reads too early reads what was there before,
// every time.
#pragma once

#include <cstdint>
#include <vector>

namespace onepass::sim {

// What a checker calls the copies of one instruction. To the order of accesses they are by threads
// of their own: warp `slot` of block BlockOf, with the issuer's lane. They read at `time` and write
// at the next.
struct CopyTag {
  static constexpr uint32_t kBlocks = 1u << 29;  // beyond the grid's
  static uint32_t BlockOf(uint64_t block, int warp) {
    return kBlocks | (static_cast<uint32_t>(block * 32 + warp) & (kBlocks - 1));
  }
  uint32_t time = 0;
  uint8_t slot = 0;
};

// `bytes` from `from`, then zeros up to `size`.
struct AsyncCopy {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;
  uint32_t bytes = 0;
  uint32_t size = 0;
  uint32_t group = 0;  // of its thread: how many had been committed before
  uint8_t lane = 0;
  bool bulk = false;  // cp.async.bulk has groups of its own
  bool made = false;  // and kept for the wait that sees its writes
  CopyTag tag = {};
};

// The copies of one warp's threads.
class ThreadCopies {
 public:
  void Add(AsyncCopy copy);
  void Commit(uint32_t lanes, bool bulk);
  // Makes the copies of the lanes' groups but the last `allowed` that were committed. With
  // `open`, those too that are in no committed group yet. Returns these copies.
  std::vector<AsyncCopy> Finish(uint32_t lanes, bool bulk, uint32_t allowed, bool open);
  // Of bulk copies: makes them, and leaves them to a Finish.
  std::vector<AsyncCopy> FinishReads(uint32_t lanes, uint32_t allowed);

 private:
  bool IsDue(const AsyncCopy& copy, uint32_t lanes, bool bulk, uint32_t allowed, bool open) const;

  std::vector<AsyncCopy> pending_;
  uint32_t groups_[2][32] = {};  // committed, by kind and lane
};

}  // namespace onepass::sim
