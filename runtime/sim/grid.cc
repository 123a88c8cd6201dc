#include "runtime/sim/grid.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace onepass::sim {
namespace {

// Sectors that one block replays before the next block's turn: resident blocks interleave about as
// finely as the memory system sees them.
constexpr uint32_t kChunkSectors = 64;
// Rounds in which all blocks only polled, after which the launch is taken for dead.
constexpr int kIdleRounds = 1000;

}  // namespace

Grid::Grid(const Launch& launch, uint64_t blocks, int resident, int64_t instruction_limit,
           Workers& workers, L2& l2)
    : launch_(launch),
      blocks_(blocks),
      instruction_limit_(instruction_limit),
      workers_(workers),
      l2_(l2),
      slots_(std::min<uint64_t>(blocks, resident / launch.cluster_blocks * launch.cluster_blocks)),
      clusters_(slots_.size() / launch.cluster_blocks),
      spare_(workers.threads()),
      counts_(workers.threads()),
      progress_(workers.threads()),
      order_(clusters_.size()),
      random_(launch.seed, blocks) {
  std::iota(order_.begin(), order_.end(), 0);
  if (!launch.count_traffic) return;
  if (launch.cluster_blocks == 1) l1_.resize(std::min<size_t>(slots_.size(), launch.sms));
  for (L1& l1 : l1_) l1.Reset(launch.l1_bytes);
  tally_.assign(workers.threads(), std::vector<OpTally>(launch.kernel->ops.size()));
}

std::vector<OpTally> Grid::TakeTally() {
  std::vector<OpTally> sum;
  for (const std::vector<OpTally>& of_thread : tally_) {
    sum.resize(of_thread.size());
    for (size_t i = 0; i < sum.size(); ++i) {
      sum[i].executed += of_thread[i].executed;
      sum[i].loaded_bytes += of_thread[i].loaded_bytes;
    }
  }
  return sum;
}

// The linear index of a block in the grid, from that of its cluster and its rank there.
uint64_t Grid::BlockOf(uint64_t cluster, uint32_t rank) const {
  uint64_t index = 0;
  uint64_t stride = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t clusters = launch_.grid[axis] / launch_.cluster[axis];
    const uint64_t at = cluster % clusters * launch_.cluster[axis] + rank % launch_.cluster[axis];
    cluster /= clusters;
    rank /= launch_.cluster[axis];
    index += at * stride;
    stride *= launch_.grid[axis];
  }
  return index;
}

// The cluster that starts at the given place of the order. Other seeds than 0 shuffle it.
uint64_t Grid::ClusterAt(uint64_t place) const {
  const uint64_t clusters = blocks_ / launch_.cluster_blocks;
  if (launch_.seed == 0 || clusters < 2) return place;
  Random random(launch_.seed, clusters);
  uint64_t step = random.Below(clusters - 1) + 1;
  while (std::gcd(step, clusters) != 1) step = step % (clusters - 1) + 1;
  return (random.Below(clusters) + place * step) % clusters;
}

bool Grid::Fill() {
  bool busy = false;
  for (size_t i = 0; i < clusters_.size(); ++i) {
    const absl::Span<Slot> slots = SlotsOf(static_cast<int>(i));
    if (slots[0].state == Slot::State::kDone) {
      for (Slot& slot : slots) slot.state = Slot::State::kEmpty;
    }
    if (slots[0].state == Slot::State::kEmpty && next_cluster_ < blocks_ / slots.size()) {
      const uint64_t cluster = ClusterAt(next_cluster_++);
      clusters_[i].Start(launch_, cluster);
      for (uint32_t rank = 0; rank < slots.size(); ++rank) {
        slots[rank].state = Slot::State::kAssigned;
        slots[rank].turn = Turn::kPaused;
        slots[rank].index = BlockOf(cluster, rank);
      }
    }
    busy |= slots[0].state != Slot::State::kEmpty;
  }
  return busy;
}

// Gives the blocks of a cluster their state; false where the cluster has none to run.
bool Grid::Start(int cluster, int thread) {
  const absl::Span<Slot> slots = SlotsOf(cluster);
  if (slots[0].state == Slot::State::kRunning) return true;
  if (slots[0].state != Slot::State::kAssigned) return false;
  auto& spare = spare_[thread];
  for (Slot& slot : slots) {
    if (spare.empty()) spare.push_back(std::make_unique<Block>());
    slot.block = std::move(spare.back());
    spare.pop_back();
    clusters_[cluster].blocks.push_back(slot.block.get());
    slot.block->l1 = l1_.empty() ? nullptr : &l1_[cluster % l1_.size()];
    slot.block->Start(launch_, slot.index, clusters_[cluster],
                      static_cast<int>(clusters_[cluster].blocks.size()) - 1);
    slot.state = Slot::State::kRunning;
  }
  return true;
}

// A turn for each block of a cluster; whether another one helps: something changed and a block
// waits for such things.
bool Grid::RunSlots(absl::Span<Slot> slots, int thread) {
  bool moved = false;
  bool waits = false;
  bool paused = false;
  for (Slot& slot : slots) {
    if (slot.turn == Turn::kDone || slot.turn == Turn::kFault) continue;
    if (IsSpent(thread)) return false;
    slot.block->tally = TallyOf(thread);
    slot.turn = slot.block->Run();
    const int64_t before = progress_[thread];
    Settle(slot, thread);
    moved |= progress_[thread] != before;
    waits |= slot.turn == Turn::kWaiting;
    paused |= slot.turn == Turn::kPaused;
  }
  return moved && waits && !paused;
}

void Grid::RunCluster(int cluster, int thread) {
  if (!Start(cluster, thread)) return;
  const absl::Span<Slot> slots = SlotsOf(cluster);
  constexpr int kPasses = 10000;  // of one round
  for (int pass = 0; pass < kPasses && !IsSpent(thread); ++pass) {
    if (RunSlots(slots, thread)) continue;
    const bool waits = std::any_of(slots.begin(), slots.end(),
                                   [](const Slot& slot) { return slot.turn == Turn::kWaiting; });
    if (!waits || !clusters_[cluster].Deliver()) break;
  }
  Release(slots, thread);
}

void Grid::RunSm(int sm, int thread) {
  const size_t sms = l1_.empty() ? clusters_.size() : l1_.size();
  for (size_t i = sm; i < clusters_.size(); i += sms) RunCluster(static_cast<int>(i), thread);
}

// A turn for every resident cluster. Other seeds than 0: in any order, on one host thread.
void Grid::RunRound() {
  if (launch_.seed == 0) {
    workers_.Run(static_cast<int>(l1_.empty() ? clusters_.size() : l1_.size()),
                 [this](int i, int thread) { RunSm(i, thread); });
    return;
  }
  for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.Below(i)]);
  for (const int cluster : order_) RunCluster(cluster, 0);
}

// Takes what the block counted.
void Grid::Settle(Slot& slot, int thread) {
  slot.block->TakeCounts(counts_[thread]);
  progress_[thread] += std::exchange(slot.block->progress, 0);
  if (!slot.block->fault.ok()) slot.turn = Turn::kFault;
}

// Blocks that are done give their state to the next ones, all of a cluster together: until the last
// has exited, others may use its shared memory.
void Grid::Release(absl::Span<Slot> slots, int thread) {
  const bool done = std::all_of(slots.begin(), slots.end(),
                                [](const Slot& slot) { return slot.turn == Turn::kDone; });
  if (!done) return;
  for (Slot& slot : slots) {
    slot.block->log.SwapRuns(slot.runs);
    slot.state = Slot::State::kDone;
    spare_[thread].push_back(std::move(slot.block));
  }
}

void Grid::RunOrdered() {
  for (const int cluster : order_) {
    for (Slot& slot : SlotsOf(cluster)) {
      if (slot.state != Slot::State::kRunning || slot.turn != Turn::kOrdered) continue;
      if (IsSpent(0)) return;
      slot.block->tally = TallyOf(0);
      slot.turn = slot.block->RunOrdered();
      Settle(slot, 0);
    }
  }
  for (size_t i = 0; i < clusters_.size(); ++i) {
    const absl::Span<Slot> slots = SlotsOf(static_cast<int>(i));
    if (slots[0].state == Slot::State::kRunning) Release(slots, 0);
  }
}

bool Grid::ReplayChunk(Slot& slot) {
  const std::vector<AccessRun>& runs =
      slot.state == Slot::State::kRunning ? slot.block->log.runs() : slot.runs;
  uint32_t budget = kChunkSectors;
  while (slot.at < runs.size() && budget > 0) {
    const AccessRun& run = runs[slot.at];
    const bool many = run.kind <= AccessRun::Kind::kWrite;
    const uint32_t left = many ? run.count - slot.skip : 1;
    const uint32_t now = std::min(left, budget);
    l2_.Replay(run, slot.skip, now);
    budget -= now;
    slot.skip += now;
    if (now == left) {
      slot.skip = 0;
      ++slot.at;
    }
  }
  return slot.at < runs.size();
}

void Grid::Replay() {
  std::vector<Slot*> left;
  for (Slot& slot : slots_) {
    if (slot.state == Slot::State::kEmpty) continue;
    slot.at = 0;
    slot.skip = 0;
    left.push_back(&slot);
  }
  while (!left.empty()) {
    std::erase_if(left, [&](Slot* slot) { return !ReplayChunk(*slot); });
  }
  for (Slot& slot : slots_) {
    slot.runs.clear();
    if (slot.state == Slot::State::kRunning) slot.block->log.ClearRuns();
  }
}

absl::Status Grid::Stuck() {
  fault_kind_ = Finding::Kind::kDeadlock;
  const Slot* first = nullptr;
  int polling = 0;
  for (const Slot& slot : slots_) {
    if (slot.state != Slot::State::kRunning || slot.turn == Turn::kDone) continue;
    if (first == nullptr || slot.index < first->index) first = &slot;
    ++polling;
  }
  const uint64_t started = next_cluster_ * launch_.cluster_blocks;
  return absl::AbortedError(absl::StrFormat(
      "%s: deadlock: %d resident blocks poll what nobody changes%s; %s", launch_.kernel->name,
      polling,
      started < blocks_ ? absl::StrFormat(" and %d blocks wait for a place", blocks_ - started)
                        : "",
      first->block->DescribeWaiting()));
}

absl::Status Grid::Check() {
  int64_t instructions = 0;
  for (const Counts& counts : counts_) instructions += counts.warp_instructions;
  if (instructions > instruction_limit_) {
    return absl::AbortedError(
        absl::StrFormat("%s: more than %d warp instructions: an endless loop?",
                        launch_.kernel->name, instruction_limit_));
  }
  bool only_polls = true;
  for (const Slot& slot : slots_) {
    if (slot.state == Slot::State::kDone) only_polls = false;
    if (slot.state != Slot::State::kRunning) continue;
    if (slot.turn == Turn::kFault) {
      fault_kind_ = slot.block->fault_kind;
      return slot.block->fault;
    }
    only_polls &= slot.turn != Turn::kPaused;
  }
  for (int64_t& progress : progress_) only_polls &= std::exchange(progress, 0) == 0;
  idle_rounds_ = only_polls ? idle_rounds_ + 1 : 0;
  return idle_rounds_ > kIdleRounds ? Stuck() : absl::OkStatus();
}

absl::Status Grid::Run(Counts& counts) {
  absl::Status status;
  while (status.ok() && Fill()) {
    RunRound();
    status = Check();
    if (!status.ok()) break;
    RunOrdered();
    if (launch_.count_traffic) Replay();
  }
  for (const Counts& of_thread : counts_) counts += of_thread;
  return status;
}

}  // namespace onepass::sim
