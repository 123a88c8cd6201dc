// Happens-before inside a launch, as the PTX memory model has it.
//
// Every warp of a block has a clock, and every access is made at its warp's time. What orders
// accesses moves clocks on:
//   - a barrier of the whole block: all accesses so far are ordered before all that follow;
//   - a barrier of some warps, or of some lanes (bar.warp.sync), likewise among these;
//   - a release (a fence, then a strong write; or .release) is seen by an acquire (a strong read of
//     what was written, then a fence; or .acquire): all that was ordered before the release is
//     ordered before what follows the acquire. Where either has .cta scope, only inside the block.
// Shuffles and votes order nothing, and neither does the lockstep of a warp.
//
// The common orders are one comparison; what remains is in Clocks, made as it is needed.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/sim/clocks.h"

namespace onepass::sim {

// What a word that threads synchronise through has been given by the last release of it, and by the
// atomics that followed.
struct Released {
  Clocks to_all;
  Clocks to_block;  // with .cta scope
  uint64_t block = 0;
};

// The order of a strong access. A load acquires, a store releases, an atomic may do both.
struct Strength {
  bool acquire = false;
  bool release = false;
  bool block_scope = false;
};

// What warps hand each other at a barrier of a part of the block.
struct Joint {
  Clocks known;
  Clocks fenced;
};

class BlockOrder {
 public:
  void Start(uint64_t block, int warps);

  // The time at which the warp's accesses happen now.
  uint32_t Now(int warp) const { return warps_[warp].now; }
  // Whether what a lane of this block did at `time` is ordered before what all lanes of `warp` do.
  bool OrderedForWarp(int of_warp, uint32_t time, int warp) const {
    return time < base_ || (of_warp == warp && time < warps_[warp].base);
  }
  // The same for any lane of the launch and one lane of this block.
  bool Ordered(uint64_t of_block, int of_warp, int of_lane, uint32_t time, int warp,
               int lane) const;

  // All warps meet: the barrier without a number of threads.
  void JoinBlock();
  // Some warps meet. Arrive collects in `joint` what the warp has done; the warps that wait then
  // learn all of it.
  void Arrive(int warp, Joint& joint);
  void Leave(int warp, const Joint& joint);
  // An arrival that releases nothing but what is behind fences.
  void ArriveRelaxed(int warp, Joint& joint) const;
  // A lane is told of what others did.
  void Learn(int warp, int lane, const Clocks& what) { LaneOf(warp, lane).known.Join(what); }
  // Whether a lane is ordered behind anything that another block did.
  bool KnowsOf(uint64_t block, int warp, int lane) const {
    return KnownTo(warp, lane).Knows(block);
  }
  // Lanes of a warp meet.
  void JoinLanes(int warp, uint32_t lanes);

  void Fence(int warp, uint32_t lanes, bool block_scope);
  // A lane read, or wrote, a word by a strong access; `replaces`: the word's earlier releases do
  // not count any more (a plain strong store; not an atomic).
  void Acquire(int warp, int lane, const Released& word, Strength strength);
  void Release(int warp, int lane, Released& word, Strength strength, bool replaces);
  // Whether a Release by this lane would hand on anything.
  bool HasReleased(int warp, int lane, Strength strength) const;

 private:
  struct Moment {
    bool taken = false;
    uint32_t now = 0;
    uint32_t warp_base = 0;
    uint32_t block_base = 0;
    Clocks known;
  };
  struct Lane {
    Clocks known;
    Clocks seen;        // read, and known after the next fence
    Clocks seen_block;  // likewise, by a fence of any scope
    Moment fence;       // the last of .gpu or .sys scope
    Moment block_fence;
  };
  struct WarpOrder {
    uint32_t now = 1;
    uint32_t base = 0;    // the warp's own accesses before it are ordered for all its lanes
    bool fences = false;  // of its lanes, that `fenced` does not hold
    Clocks known;
    Clocks fenced;  // as BlockOrder::fenced_, for the warp's lanes
    std::unique_ptr<std::array<Lane, 32>> lanes;
  };

  Lane& LaneOf(int warp, int lane);
  Clocks KnownTo(int warp, int lane) const;
  Moment MomentOf(int warp, int lane) const;
  Clocks ClocksAt(int warp, int lane, const Moment& moment) const;
  void CollectFences(int warp, Clocks& into);

  uint64_t block_ = 0;
  uint32_t base_ = 0;  // all accesses of the block before it are ordered for all its threads
  Clocks known_;       // by all threads of the block
  Clocks fenced_;      // behind fences of .gpu scope that are ordered before all the block does now
  std::vector<WarpOrder> warps_;
};

}  // namespace onepass::sim
