#include "runtime/sim/grid.h"

#include <algorithm>
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
      slots_(std::min<uint64_t>(blocks, resident)),
      spare_(workers.threads()),
      counts_(workers.threads()),
      progress_(workers.threads()) {}

bool Grid::Fill() {
  bool busy = false;
  for (Slot& slot : slots_) {
    if (slot.state == Slot::State::kDone) slot.state = Slot::State::kEmpty;
    if (slot.state == Slot::State::kEmpty && next_block_ < blocks_) {
      slot.state = Slot::State::kAssigned;
      slot.turn = Turn::kPaused;
      slot.index = next_block_++;
    }
    busy |= slot.state != Slot::State::kEmpty;
  }
  return busy;
}

void Grid::RunSlot(Slot& slot, int thread) {
  if (slot.state == Slot::State::kAssigned) {
    auto& spare = spare_[thread];
    if (spare.empty()) spare.push_back(std::make_unique<Block>());
    slot.block = std::move(spare.back());
    spare.pop_back();
    slot.block->Start(launch_, slot.index);
    slot.state = Slot::State::kRunning;
  } else if (slot.state != Slot::State::kRunning || slot.turn != Turn::kPaused) {
    return;
  }
  slot.turn = slot.block->Run();
  Settle(slot, thread);
}

// Takes what the block counted; a block that is done gives its state to the next one.
void Grid::Settle(Slot& slot, int thread) {
  slot.block->TakeCounts(counts_[thread]);
  progress_[thread] += std::exchange(slot.block->progress, 0);
  if (slot.turn != Turn::kDone) return;
  slot.block->log.SwapRuns(slot.runs);
  slot.state = Slot::State::kDone;
  spare_[thread].push_back(std::move(slot.block));
}

void Grid::RunOrdered() {
  for (Slot& slot : slots_) {
    if (slot.state != Slot::State::kRunning || slot.turn != Turn::kOrdered) continue;
    slot.turn = slot.block->RunOrdered();
    Settle(slot, 0);
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
    if (slot.state != Slot::State::kRunning) continue;
    if (first == nullptr) first = &slot;
    ++polling;
  }
  return absl::AbortedError(absl::StrFormat(
      "%s: deadlock: %d resident blocks poll global memory that nobody changes%s; %s",
      launch_.kernel->name, polling,
      next_block_ < blocks_
          ? absl::StrFormat(" and %d blocks wait for a place", blocks_ - next_block_)
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
    only_polls &= slot.turn == Turn::kOrdered;
  }
  for (int64_t& progress : progress_) only_polls &= std::exchange(progress, 0) == 0;
  idle_rounds_ = only_polls ? idle_rounds_ + 1 : 0;
  return idle_rounds_ > kIdleRounds ? Stuck() : absl::OkStatus();
}

absl::Status Grid::Run(Counts& counts) {
  absl::Status status;
  while (status.ok() && Fill()) {
    workers_.Run(static_cast<int>(slots_.size()),
                 [this](int i, int thread) { RunSlot(slots_[i], thread); });
    status = Check();
    if (!status.ok()) break;
    RunOrdered();
    if (launch_.count_traffic) Replay();
  }
  for (const Counts& of_thread : counts_) counts += of_thread;
  return status;
}

}  // namespace onepass::sim
