// Runs all blocks of a launch.
//
// As many blocks as the chip holds are resident, whole clusters of them. They run in rounds: every
// block that can goes on, on all host threads, those of one SM one after another on one thread, for
// they share its L1 (the blocks of a cluster are on several SMs and have a part of one each); then
// ordered operations (atomics, strong accesses) execute block by block; then what the blocks asked
// of L2 is replayed, in turns over the blocks in a fixed order; then the next blocks take the
// places of those that are done. So the results of ordered operations and all counts are the same
// for any number of host threads.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/sim/block.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/l2.h"
#include "runtime/sim/workers.h"

namespace onepass::sim {

class Grid {
 public:
  // `resident` blocks at a time. All references must outlive the grid.
  Grid(const Launch& launch, uint64_t blocks, int resident, int64_t instruction_limit,
       Workers& workers, L2& l2);
  // Runs to the end or to the first fault, and adds what the blocks counted.
  absl::Status Run(Counts& counts);
  // By operation, after Run: empty where traffic is not counted.
  std::vector<OpTally> TakeTally();
  // Of the fault that Run returned.
  Finding::Kind fault_kind() const { return fault_kind_; }

 private:
  struct Slot {
    enum class State : uint8_t { kEmpty, kAssigned, kRunning, kDone };
    State state = State::kEmpty;
    Turn turn = Turn::kPaused;
    uint64_t index = 0;            // of the block
    std::unique_ptr<Block> block;  // while kRunning
    std::vector<AccessRun> runs;   // of a block that is done and has given its state back
  };
  // How far a block's runs have been replayed.
  struct Reading {
    const AccessRun* next = nullptr;
    const AccessRun* end = nullptr;
    uint32_t skip = 0;  // sectors of the next
  };

  bool Fill();  // false: all blocks are done
  uint64_t BlockOf(uint64_t cluster, uint32_t rank) const;
  uint64_t ClusterAt(uint64_t place) const;
  bool Start(int cluster, int thread);
  void RunCluster(int cluster, int thread);
  void RunSm(int sm, int thread);
  void RunRound();
  bool RunSlots(llvm::MutableArrayRef<Slot> slots, int thread);
  void RunOrdered();
  OpTally* TallyOf(int thread) { return tally_.empty() ? nullptr : tally_[thread].data(); }
  // One host thread alone has executed what the launch may: Check will end it.
  bool IsSpent(int thread) const { return counts_[thread].warp_instructions > instruction_limit_; }
  void Settle(Slot& slot, int thread);
  void Release(llvm::MutableArrayRef<Slot> slots, int thread);
  llvm::MutableArrayRef<Slot> SlotsOf(int cluster) {
    return llvm::MutableArrayRef(slots_).slice(cluster * launch_.cluster_blocks,
                                               launch_.cluster_blocks);
  }
  void Replay();
  bool ReplayChunk(Reading& reading);
  absl::Status Check();
  absl::Status Stuck();

  const Launch& launch_;
  const uint64_t blocks_;
  const int64_t instruction_limit_;
  Workers& workers_;
  L2& l2_;
  std::vector<L1> l1_;                                      // by SM; none where there are clusters
  std::vector<Slot> slots_;                                 // those of a cluster follow each other
  std::vector<Cluster> clusters_;                           // by resident cluster
  std::vector<std::vector<std::unique_ptr<Block>>> spare_;  // by host thread
  std::vector<Counts> counts_;                              // by host thread
  std::vector<std::vector<OpTally>> tally_;                 // by host thread
  std::vector<int64_t> progress_;                           // by host thread, of this round
  std::vector<int> order_;                                  // of the resident clusters' turns
  Random random_;                                           // of seeds other than 0
  uint64_t next_cluster_ = 0;
  int idle_rounds_ = 0;
  Finding::Kind fault_kind_ = Finding::Kind::kFault;
};

}  // namespace onepass::sim
