// The state of one warp, and how its lanes diverge and come together again.
//
// A warp is a set of paths: lanes that stand at the same operation. The path that runs is the one
// with the lowest operation, and operations are laid out in topological order with loops
// contiguous, so paths meet again where the control-flow graph says they can. Waiting paths are
// kept aside:
// `.sync` operations wait there for the other lanes of their mask.
#pragma once

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "runtime/sim/op.h"

namespace onepass::sim {

struct Block;

inline constexpr uint32_t kAllLanes = 0xffffffffu;

struct Path {
  enum class State : uint8_t {
    kReady,
    kYielded,    // ready, but the others go first
    kPolling,    // waits for other warps: looks again in the warp's next turn
    kAtSync,     // waits for lanes of the warp
    kAtBarrier,  // waits for lanes of the warp at a barrier of the block
  };
  const Op* at = nullptr;
  uint32_t lanes = 0;
  State state = State::kReady;
};

enum class Stop : uint8_t {
  kBudget,   // has used up its turn; can go on
  kExit,     // all lanes have exited
  kBarrier,  // waits at a barrier of its block
  kOrdered,  // stands before an operation that blocks execute in a fixed order
  kPoll,     // waits for what other warps do: looks again when they had their turn
  kFault,    // the kernel is wrong: Block::fault says how
};

struct Warp {
  uint8_t* registers = nullptr;
  const uint8_t* constants = nullptr;
  uint32_t exec = kAllLanes;     // lanes that the operation acts on
  uint32_t lanes = kAllLanes;    // lanes of the running path
  int64_t budget = 0;            // operations left in this turn
  const Op* frontier = nullptr;  // lowest operation at which another path is ready; null: none
  Block* block = nullptr;
  uint32_t live = kAllLanes;     // lanes that have not exited
  uint32_t cluster_arrived = 0;  // lanes at the cluster's barrier, which is not complete
  uint32_t cluster_owed = 0;     // lanes that have arrived there and not waited since
  uint32_t carry = 0;            // the condition code of add.cc
  int index = 0;                 // in the block
  bool serial = false;           // ordered operations may execute
  bool barrier_passed = false;   // the barrier at `resume` has been completed
  Stop stop = Stop::kBudget;
  const Op* resume = nullptr;
  const Op* polled = nullptr;   // the strong load executed last in the latest serial turn
  const Op* retried = nullptr;  // the mbarrier.try_wait that has been suspended already
  int64_t unissued = 0;  // operations executed that are not instructions, or not the first time
  uint32_t barrier_result = 0;
  llvm::SmallVector<Path, 2> others;

  template <class Bits>
  const Bits* In(RowRef ref) const {
    const uint8_t* base = ref < 0 ? constants : registers;
    return reinterpret_cast<const Bits*>(base + (ref & ~kConstantRow));
  }
  template <class Bits>
  Bits* Out(RowRef ref) const {
    return reinterpret_cast<Bits*>(registers + ref);
  }
  uint32_t& Mask(RowRef ref) const { return *Out<uint32_t>(ref); }
  // Writes the executing lanes' bits of a predicate.
  void SetMask(RowRef ref, uint32_t bits) const {
    uint32_t& mask = Mask(ref);
    mask = (mask & ~exec) | (bits & exec);
  }

  const Op* StopAt(const Op& op, Stop why) {
    stop = why;
    resume = &op;
    ++unissued;
    return nullptr;
  }
};

// The lanes of `taken` go to `target`, the path's other lanes to `fallthrough`; both are not empty.
const Op* Diverge(Warp& warp, const Op* target, uint32_t taken, const Op* fallthrough);
// The running path has come to `at`, at or behind the frontier: the lowest path goes on.
const Op* Reschedule(Warp& warp, const Op* at, Path::State state = Path::State::kReady);
// The running path waits at `at` for what other warps do; other paths of its warp go on meanwhile.
const Op* Poll(Warp& warp, const Op* at);
// A new turn: the paths that poll look again.
void WakePolling(Warp& warp);
// The executing lanes exit. Returns what goes on, `next` for the rest of the path.
const Op* ExitLanes(Warp& warp, const Op& op, const Op* next);

inline const Op* GoTo(Warp& warp, const Op* at) {
  if (warp.frontier != nullptr && at >= warp.frontier) [[unlikely]]
    return Reschedule(warp, at);
  return at;
}

// Whether all live lanes of `needed` stand at `op`, in the running path. Where not, the path has
// been put aside and the caller returns Reschedule(warp, &op, Path::State::kAtSync).
inline bool HasLanes(const Warp& warp, uint32_t needed) {
  return (needed & warp.live & ~warp.lanes) == 0;
}

}  // namespace onepass::sim
