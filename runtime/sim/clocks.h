// What one thread knows of all threads of a launch: up to which time of each it is ordered behind.
//
// A persistent tree with the grid's own levels: blocks, their warps, their lanes. A bound at a
// block holds for all of its threads, one at a warp for its lanes. Copies share their nodes, and
// joining trees that share much costs little, so a thousand blocks that release through one word
// cost a thousand small steps. Times are those of a block (BlockOrder); different blocks' have
// nothing to do with each other.
//
// Not thread-safe, copies in other threads included: reference counts are plain.
#pragma once

#include <cstdint>

#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/SmallVector.h"

namespace onepass::sim {

class Clocks {
 public:
  // Accesses at times below `bound` are known.
  void RaiseBlock(uint64_t block, uint32_t bound) { Raise(block, kBlockLevel, bound); }
  void RaiseWarp(uint64_t block, int warp, uint32_t bound) {
    Raise(block * 32 + warp, kBlockLevel + 1, bound);
  }
  void RaiseLane(uint64_t block, int warp, int lane, uint32_t bound) {
    Raise((block * 32 + warp) * 32 + lane, kBlockLevel + 2, bound);
  }
  void Join(const Clocks& other) { root_ = Joined(root_, other.root_); }
  // The bound for one lane.
  uint32_t Of(uint64_t block, int warp, int lane) const;
  // Whether anything of the block is known.
  bool Knows(uint64_t block) const;
  bool empty() const { return root_ == nullptr; }

 private:
  struct Node;
  using Ref = llvm::IntrusiveRefCntPtr<const Node>;
  struct Node : llvm::RefCountedBase<Node> {
    uint32_t bound = 0;
    uint64_t present = 0;  // which children there are
    llvm::SmallVector<Ref, 1> children;

    const Ref* Child(int digit) const;
  };
  // Five bits a level; six levels make 2^30 blocks.
  static constexpr int kDigitBits = 5;
  static constexpr int kBlockLevel = 6;

  void Raise(uint64_t path, int levels, uint32_t bound);
  static Ref Raised(const Ref& node, uint64_t path, int levels, uint32_t bound);
  static Ref Joined(const Ref& a, const Ref& b);

  Ref root_;
};

}  // namespace onepass::sim
