// The blocks of a cluster: their common barrier, and the operations that run beside them: bulk
// copies and asynchronous stores that end at an mbarrier.
//
// A grid without clusters has clusters of one block. One host thread at a time runs a cluster, so
// its blocks reach each other's shared memory without locks.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/sim/block.h"

namespace onepass::sim {

// Merges `bytes` bytes from `from` into `to`.
using Combine = void (*)(uint8_t* to, const uint8_t* from, int64_t bytes);

// Something that will happen in a block's shared memory, and be counted at an mbarrier there. It
// happens as late as it can: when the cluster's warps have nothing else to do.
struct Delivery {
  uint8_t* to = nullptr;
  const uint8_t* from = nullptr;  // null: `value`
  uint8_t value[16] = {};
  int64_t bytes = 0;
  Combine combine = nullptr;   // null: a copy
  uint8_t* barrier = nullptr;  // the mbarrier's word
  Warp* warp = nullptr;        // the issuer, for messages
  int lane = 0;
  CopyTag tag = {};
  const Op* op = nullptr;
};

struct ClusterChecks;

struct Cluster {
  Cluster();
  Cluster(Cluster&&) noexcept;
  ~Cluster();
  void Start(const Launch& launch, uint64_t index);
  // Makes one delivery; false where none is left. Faults are the issuer's.
  bool Deliver();
  // The executing lanes arrive at the cluster's barrier; `releases`: without .relaxed.
  void Arrive(Warp& warp, bool releases);
  // They have waited there.
  void Leave(Warp& warp);
  // Ends the barrier's phase where all threads that have not exited have arrived.
  void TryRelease();
  // The shared memory at a shared::cluster address of `from`; null where no block has it.
  uint8_t* SharedAt(const Block& from, uint64_t address, int64_t bytes) const;

  const Launch* launch = nullptr;
  uint64_t index = 0;
  std::vector<Block*> blocks;  // by rank
  std::vector<Delivery> deliveries;
  uint32_t proxy_fences = 0;  // fence.proxy.async, executed by any of its warps
  Random random;
  std::unique_ptr<ClusterChecks> checks;  // where the launch has a checker
};

// A shared::cluster address: the rank of its block plus one, or 0 for the own block, above the
// offset in that block's shared memory.
inline constexpr int kRankShift = 24;
inline constexpr uint32_t kSharedOffsetMask = (1u << kRankShift) - 1;

}  // namespace onepass::sim
