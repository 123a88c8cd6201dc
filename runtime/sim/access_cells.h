// Who accessed each byte of some memory last: what the race checker remembers.
//
// A cell covers `1 << shift` bytes: four, until a narrower access comes, then fewer. It holds the
// last write and up to two reads since then that were not ordered with each other: of two readers
// at least one is another thread than whoever writes next.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace onepass::sim {

// 32 * (index of its record + 1) + lane; 0: none.
using AccessId = uint32_t;

// What the lanes of one warp did by one operation at one time of the warp's clock.
struct AccessRecord {
  enum class Kind : uint8_t { kRead, kWrite, kUpdate };
  uint32_t block = 0;
  uint32_t op = 0;  // of the kernel
  uint32_t time = 0;
  uint8_t warp = 0;
  Kind kind = Kind::kRead;
  bool strong = false;        // ordered by the hardware with other strong ones of its scope
  bool block_scope = false;   // of a strong one
  bool read_only = false;     // ld.nc: must not meet any write of the launch
  bool copy = false;          // by an asynchronous copy: see CopyTag for block, warp and time
  uint32_t proxy_fences = 0;  // of shared memory: what its cluster had executed
};

class AccessCells {
 public:
  // Nobody has accessed the `bytes` bytes. Memory is reserved lazily, and kept where it is enough.
  void Reset(int64_t bytes);
  // The cells are at most `bytes` bytes wide afterwards, a power of two.
  void Refine(int64_t bytes);

  int shift() const { return shift_; }
  int64_t bytes() const { return bytes_; }
  AccessId* writes() const { return writes_.get(); }
  AccessId* reads() const { return reads_.get(); }
  AccessId* others() const { return others_.get(); }
  // Whether the arrays hold anything; set by whoever writes into them.
  bool any_reads = false;
  bool any_others = false;

 private:
  struct Free {
    void operator()(AccessId* ids) const { std::free(ids); }
  };
  using Array = std::unique_ptr<AccessId[], Free>;
  static Array Make(int64_t cells);

  int shift_ = 2;
  int64_t bytes_ = 0;
  int64_t cells_ = 0;
  int64_t capacity_ = 0;
  Array writes_;
  Array reads_;
  Array others_;
};

}  // namespace onepass::sim
