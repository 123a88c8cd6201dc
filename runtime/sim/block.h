// The state of one thread block, and how its warps take turns.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "runtime/sim/access_log.h"
#include "runtime/sim/byte_set.h"
#include "runtime/sim/copies.h"
#include "runtime/sim/counts.h"
#include "runtime/sim/finding.h"
#include "runtime/sim/memory.h"
#include "runtime/sim/op_tally.h"
#include "runtime/sim/program.h"
#include "runtime/sim/random.h"
#include "runtime/sim/warp.h"

namespace onepass::sim {

class Checker;
struct BlockChecks;
struct Cluster;  // runtime/sim/cluster.h

// What all blocks of a launch share. Constant while they run.
struct Launch {
  const Kernel* kernel = nullptr;
  const uint8_t* constants = nullptr;  // rows, 64-byte aligned
  const uint8_t* parameters = nullptr;
  GlobalMemory* memory = nullptr;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1};
  uint32_t cluster_blocks = 1;  // of a cluster
  bool has_clusters = false;    // the launch or the kernel states a cluster's shape
  uint32_t threads = 1;         // of a block
  int warps = 1;                // of a block
  int sms = 1;
  int blocks_per_sm = 1;              // resident
  int64_t shared_bytes = 0;           // static and dynamic, with gaps
  std::vector<int64_t> shared_begin;  // by Kernel::shared
  ByteSet shared_usable;              // of a checked launch: without gaps
  int64_t dynamic_shared_bytes = 0;
  int64_t dynamic_shared_start = 0;
  int64_t l1_bytes = 0;  // of an SM
  size_t log_limit = 0;  // runs after which a block pauses
  bool count_traffic = true;
  int64_t longest_turn = INT64_MAX;  // operations of a block in one round
  uint64_t seed = 0;                 // 0: warps and paths in a fixed order; others: in a random one
  uint64_t approx_seed = 0;          // see GpuOptions
  Checker* checker = nullptr;        // null: nothing is checked
  std::atomic<uint8_t>* executed = nullptr;  // by operation, whether it was; null: nobody asks
  std::string* printed = nullptr;  // what kernels print; only while blocks execute in order
};

// One of a block's 16 barriers.
struct BlockBarrier {
  uint32_t arrived = 0;   // threads, in whole warps
  uint32_t expected = 0;  // 0: all threads of the block that have not exited
  bool any = false;
  bool all = true;
  uint32_t count = 0;  // threads whose predicate was true
};

enum class Turn : uint8_t {
  kDone,     // all warps have exited
  kPaused,   // can go on at once
  kWaiting,  // polls what other blocks or asynchronous operations do
  kOrdered,  // waits for its turn in the fixed order
  kFault,
};

struct AlignedDelete {
  void operator()(uint8_t* bytes) const { ::operator delete[](bytes, std::align_val_t(64)); }
};

struct Block {
  Block();
  ~Block();
  // Makes this the block with the linear index `index` of `launch`, number `rank` of its cluster,
  // ready to run. Memory of an earlier use is taken again.
  void Start(const Launch& launch, uint64_t index, Cluster& cluster, int rank);
  // Runs warps until each has exited or waits, or the turn is used up. Any host thread may call it,
  // one at a time for each block.
  Turn Run();
  // Executes the ordered operations at which warps stand. One block at a time in the whole launch.
  Turn RunOrdered();
  // The warp arrives at the barrier of `op`, whether it waits there or not.
  void Arrive(Warp& warp, const Op& op);
  // Up to four of the waiting warps with the operations at which they wait.
  std::string DescribeWaiting() const;
  // The operation brings so many distinct bytes of global memory into registers.
  void NoteLoad(const Op& op, int64_t bytes) {
    if (tally != nullptr) tally[&op - launch->kernel->ops.data()].loaded_bytes += bytes;
  }
  // Adds the counts of this block since the last call.
  void TakeCounts(Counts& into);

  const Launch* launch = nullptr;
  uint64_t index = 0;
  uint32_t ctaid[3] = {0, 0, 0};
  Cluster* cluster = nullptr;
  int rank = 0;  // in the cluster
  std::vector<Warp> warps;
  uint8_t* shared = nullptr;
  uint8_t* local = nullptr;  // lane after lane of warp after warp, Kernel::local_bytes each
  BlockBarrier barriers[16];
  AccessLog log;
  Counts counts;
  absl::Status fault;
  Finding::Kind fault_kind = Finding::Kind::kFault;
  std::unique_ptr<BlockChecks> checks;  // where the launch has a checker
  // Grows with everything but loads: stores that change memory, barriers, exits. A launch whose
  // blocks only poll, and none of which progresses, is dead.
  int64_t progress = 0;
  uint64_t clock = 0;
  L1* l1 = nullptr;          // of the block's SM; null: a part of it, see Start
  OpTally* tally = nullptr;  // by operation, of the host thread that runs the block; null: none
  Random random;             // of seeds other than 0
  std::vector<ThreadCopies> copies;  // by warp; empty until the first asynchronous copy

 private:
  int64_t RunInOrder(int64_t left);
  int64_t RunAtRandom(int64_t left);
  bool Step(Warp& warp, int64_t turn, int64_t& left);
  int64_t RunWarp(Warp& warp, int64_t budget);
  const Op* Execute(Warp& warp, const Op* op, int64_t& executed);
  const Op* ExecuteTallied(Warp& warp, const Op* op, int64_t& executed);
  const Op* ExecuteWatched(Warp& warp, const Op* op, int64_t& executed);
  void AfterStop(Warp& warp);
  void TryRelease(int barrier);
  Turn Conclude();

  std::unique_ptr<uint8_t[], AlignedDelete> bytes_;
  int64_t capacity_ = 0;
  int live_warps_ = 0;
};

// Stops the warp: the kernel did something wrong in the lowest of `lanes`. Returns null. The first
// fault of a block is kept.
const Op* Fault(Warp& warp, const Op& op, uint32_t lanes, std::string_view what,
                Finding::Kind kind = Finding::Kind::kFault);

// Of exec_control.cc: whether both are the same kind of non-aligned barrier.sync.
bool SameUnalignedBarrier(const Op& a, const Op& b);
// What a barrier operation asks for: see exec_control.cc.
struct BarrierRequest {
  int barrier = 0;
  uint32_t expected = 0;
  bool aligned = false;
  bool reduces = false;
  uint32_t predicate = 0;  // lanes whose predicate is true
};
BarrierRequest RequestOf(const Warp& warp, const Op& op);

}  // namespace onepass::sim
