#include "runtime/sim/block.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/waiting.h"
#include "runtime/sim/where.h"

namespace onepass::sim {
namespace {

constexpr int64_t kWarpTurn = 256;       // operations before the next warp goes on
constexpr int64_t kBlockTurn = 1 << 22;  // operations of a block in one round
constexpr int64_t kOrderedTurn = 512;    // operations of a warp while others wait for it

bool Waits(const Warp& warp) {
  return warp.stop == Stop::kBarrier || warp.stop == Stop::kOrdered || warp.stop == Stop::kExit;
}

}  // namespace

const Op* Fault(Warp& warp, const Op& op, uint32_t lanes, std::string_view what,
                Finding::Kind kind) {
  Block& block = *warp.block;
  if (block.fault.ok()) {
    const Launch& launch = *block.launch;
    const bool outside = kind == Finding::Kind::kOutOfBounds || kind == Finding::Kind::kMisaligned;
    const int lane = std::countr_zero(lanes == 0 ? 1u : lanes);
    block.fault_kind = kind;
    block.fault = absl::Status(outside ? absl::StatusCode::kOutOfRange : absl::StatusCode::kAborted,
                               absl::StrFormat("%s: %s, %s%s", launch.kernel->name, what,
                                               ThreadOf(launch, block.index, warp.index, lane),
                                               AtLine(*launch.kernel, op)));
  }
  warp.stop = Stop::kFault;
  warp.resume = &op;
  return nullptr;
}

Block::Block() = default;
Block::~Block() = default;

void Block::Start(const Launch& of, uint64_t linear, Cluster& in, int number) {
  launch = &of;
  index = linear;
  cluster = &in;
  rank = number;
  random = Random(of.seed, linear);
  copies.clear();
  ctaid[0] = static_cast<uint32_t>(linear % of.grid[0]);
  ctaid[1] = static_cast<uint32_t>(linear / of.grid[0] % of.grid[1]);
  ctaid[2] = static_cast<uint32_t>(linear / of.grid[0] / of.grid[1]);
  // A checker shuffles in rows of its own behind the registers.
  const int64_t register_bytes = of.kernel->register_bytes + (of.checker != nullptr ? 384 : 0);
  const int64_t registers = register_bytes * of.warps;
  const int64_t shared_bytes = (of.shared_bytes + 63) / 64 * 64;
  const int64_t local_bytes = of.kernel->local_bytes * 32 * of.warps;
  const int64_t needed = registers + shared_bytes + local_bytes + 64;
  if (needed > capacity_) {
    bytes_.reset(static_cast<uint8_t*>(::operator new[](needed, std::align_val_t(64))));
    capacity_ = needed;
  }
  std::memset(bytes_.get(), 0, needed);
  shared = bytes_.get() + registers;
  local = shared + shared_bytes;
  std::fill(std::begin(barriers), std::end(barriers), BlockBarrier());
  if (l1 != nullptr) {
    log.Begin(*l1);
  } else {
    log.Begin(of.count_traffic ? of.l1_bytes / of.blocks_per_sm : 0);
  }
  counts = Counts();
  fault = absl::OkStatus();
  fault_kind = Finding::Kind::kFault;
  progress = 0;
  warps.assign(of.warps, Warp());
  live_warps_ = of.warps;
  for (int i = 0; i < of.warps; ++i) {
    Warp& warp = warps[i];
    warp.registers = bytes_.get() + register_bytes * i;
    warp.constants = of.constants;
    warp.block = this;
    warp.index = i;
    const uint32_t threads = std::min<uint32_t>(32, of.threads - 32 * i);
    warp.live = warp.lanes = warp.exec = threads == 32 ? kAllLanes : (1u << threads) - 1;
    warp.resume = of.kernel->ops.data();
  }
  if (of.checker == nullptr) return checks.reset();
  if (checks == nullptr) checks = std::make_unique<BlockChecks>();
  checks->Start(*this);
}

// Executes until the turn ends or the warp stops. Returns the last operation that ran, or the one
// to go on with.
const Op* Block::Execute(Warp& warp, const Op* op, int64_t& executed) {
  while (warp.budget > 0) {
    --warp.budget;
    ++executed;
    const Op* next = op->fn(*op, warp);
    if (next == nullptr) break;
    op = next;
  }
  return op;
}

// The same with the tally. What stops the warp is executed again, or ends it.
const Op* Block::ExecuteTallied(Warp& warp, const Op* op, int64_t& executed) {
  const Op* const ops = launch->kernel->ops.data();
  while (warp.budget > 0) {
    --warp.budget;
    ++executed;
    const Op* next = op->fn(*op, warp);
    if (next == nullptr) break;
    ++tally[op - ops].executed;
    op = next;
  }
  return op;
}

// The same for a launch that is checked or recorded.
const Op* Block::ExecuteWatched(Warp& warp, const Op* op, int64_t& executed) {
  RegisterCheck* const registers = checks == nullptr ? nullptr : &checks->registers[warp.index];
  const Op* const ops = launch->kernel->ops.data();
  const OpUse* const uses = launch->kernel->uses.data();
  while (warp.budget > 0) {
    --warp.budget;
    ++executed;
    if (launch->executed != nullptr) {
      launch->executed[op - ops].store(1, std::memory_order_relaxed);
    }
    if (registers != nullptr && (registers->following() || uses[op - ops].mask >= 0)) {
      registers->Before(*launch->checker, *op, warp);
    }
    const Op* next = op->fn(*op, warp);
    if (next == nullptr) break;
    if (tally != nullptr) ++tally[op - ops].executed;
    op = next;
  }
  return op;
}

int64_t Block::RunWarp(Warp& warp, int64_t budget) {
  warp.budget = budget;
  warp.stop = Stop::kBudget;
  if (warp.serial) warp.polled = nullptr;
  WakePolling(warp);
  const Op* op = warp.resume;
  int64_t executed = 0;
  const bool watched = checks != nullptr || launch->executed != nullptr;
  op = watched            ? ExecuteWatched(warp, op, executed)
       : tally != nullptr ? ExecuteTallied(warp, op, executed)
                          : Execute(warp, op, executed);
  if (warp.stop == Stop::kBudget) {
    warp.resume = op;
    // Whoever spins gives way to the other paths of its warp.
    if (!warp.others.empty()) warp.resume = Reschedule(warp, op, Path::State::kYielded);
  }
  counts.warp_instructions += executed - warp.unissued;
  clock += executed;
  warp.unissued = 0;
  return executed;
}

void Block::AfterStop(Warp& warp) {
  switch (warp.stop) {
    case Stop::kBarrier:
      Arrive(warp, *warp.resume);
      break;
    case Stop::kExit:
      --live_warps_;
      ++progress;
      if (!copies.empty()) copies[warp.index].Finish(kAllLanes, /*bulk=*/true, 0, /*open=*/true);
      if (live_warps_ == 0 && launch->checker != nullptr) launch->checker->Exit(*this);
      for (int i = 0; i < 16; ++i) {
        if (barriers[i].arrived != 0) TryRelease(i);
      }
      break;
    default:
      break;
  }
}

void Block::Arrive(Warp& warp, const Op& op) {
  const BarrierRequest request = RequestOf(warp, op);
  BlockBarrier& barrier = barriers[request.barrier];
  barrier.arrived += 32;
  barrier.expected = request.expected;
  if (launch->checker != nullptr) launch->checker->Arrive(warp, request);
  if (request.reduces) {
    barrier.any |= request.predicate != 0;
    barrier.all &= (request.predicate & warp.live) == warp.live;
    barrier.count += std::popcount(request.predicate & warp.live);
  }
  TryRelease(request.barrier);
}

void Block::TryRelease(int which) {
  BlockBarrier& barrier = barriers[which];
  const uint32_t expected = barrier.expected != 0 ? barrier.expected : 32u * live_warps_;
  if (barrier.arrived == 0 || barrier.arrived < expected) return;
  ++counts.barriers;
  ++progress;
  if (launch->checker != nullptr) launch->checker->Complete(*this, which);
  for (Warp& warp : warps) {
    if (warp.stop != Stop::kBarrier) continue;
    const BarrierRequest request = RequestOf(warp, *warp.resume);
    if (request.barrier != which) continue;
    warp.stop = Stop::kBudget;
    if (warp.lanes == 0) {  // its paths wait at different places: each goes on behind its own
      for (Path& path : warp.others) path = {path.at + 1, path.lanes, Path::State::kReady};
      warp.resume = Reschedule(warp, nullptr);
    } else {
      warp.barrier_passed = true;
      warp.barrier_result = 0;
      if (barrier.any) warp.barrier_result |= 1;
      if (barrier.all) warp.barrier_result |= 2;
      warp.barrier_result |= barrier.count << 2;
    }
  }
  barrier = BlockBarrier();
}

// Gives the warp a turn; whether it moved. `left` counts down.
bool Block::Step(Warp& warp, int64_t turn, int64_t& left) {
  left -= std::max<int64_t>(RunWarp(warp, turn), 1);
  const bool moved = warp.stop != Stop::kPoll;
  AfterStop(warp);
  if (!fault.ok() || log.runs().size() > launch->log_limit) left = 0;
  return moved;
}

int64_t Block::RunInOrder(int64_t left) {
  for (bool moved = true; moved && left > 0;) {
    moved = false;
    for (size_t i = 0; i < warps.size() && left > 0; ++i) {
      if (!Waits(warps[i])) moved |= Step(warps[i], kWarpTurn, left);
    }
  }
  return left;
}

// Turns of random length for warps in random order. A warp that polls goes on when another moved.
int64_t Block::RunAtRandom(int64_t left) {
  constexpr int64_t kTurns[] = {1, 2, 5, 17, 100, 1000, kWarpTurn};
  std::vector<int> polled(warps.size(), -1);
  for (int moves = 0; left > 0;) {
    std::vector<int> able;
    for (size_t i = 0; i < warps.size(); ++i) {
      if (!Waits(warps[i]) && polled[i] != moves) able.push_back(static_cast<int>(i));
    }
    if (able.empty()) break;
    const int next = able[random.Below(able.size())];
    const bool moved = Step(warps[next], kTurns[random.Below(std::size(kTurns))], left);
    if (moved) ++moves;
    if (!moved) polled[next] = moves;
  }
  return left;
}

Turn Block::Run() {
  constexpr int64_t kTurns[] = {100, 3000, 100000, kBlockTurn};
  const int64_t wanted = launch->seed == 0 ? kBlockTurn : kTurns[random.Below(std::size(kTurns))];
  const int64_t turn = std::min(wanted, launch->longest_turn);
  const int64_t left = launch->seed == 0 ? RunInOrder(turn) : RunAtRandom(turn);
  if (!fault.ok()) return Turn::kFault;
  return left > 0 ? Conclude() : Turn::kPaused;
}

// Other seeds than 0: any warp first, turns of any length.
Turn Block::RunOrdered() {
  constexpr int64_t kTurns[] = {4, 50, kOrderedTurn, kOrderedTurn};
  const bool in_order = launch->seed == 0;
  const size_t first = in_order ? 0 : random.Below(warps.size());
  for (size_t i = 0; i < warps.size(); ++i) {
    Warp& warp = warps[(first + i) % warps.size()];
    if (warp.stop != Stop::kOrdered) continue;
    warp.serial = true;
    const int64_t turn = in_order ? kOrderedTurn : kTurns[random.Below(std::size(kTurns))];
    RunWarp(warp, std::min(turn, launch->longest_turn));
    warp.serial = false;
    AfterStop(warp);
    if (!fault.ok()) return Turn::kFault;
  }
  return Conclude();
}

Turn Block::Conclude() {
  bool ordered = false;
  bool polls = false;
  bool exited = true;
  for (const Warp& warp : warps) {
    if (!Waits(warp) && warp.stop != Stop::kPoll) return Turn::kPaused;
    ordered |= warp.stop == Stop::kOrdered;
    polls |= warp.stop == Stop::kPoll;
    exited &= warp.stop == Stop::kExit;
  }
  if (exited) return Turn::kDone;
  if (ordered) return Turn::kOrdered;
  if (polls) return Turn::kWaiting;
  fault_kind = Finding::Kind::kDeadlock;
  fault = absl::AbortedError(
      absl::StrFormat("%s: deadlock in %s", launch->kernel->name, DescribeWaiting()));
  return Turn::kFault;
}

std::string Block::DescribeWaiting() const {
  std::string waiting;
  int shown = 0;
  for (const Warp& warp : warps) {
    if (warp.stop == Stop::kExit) continue;
    if (++shown > 4) continue;
    absl::StrAppend(&waiting, shown > 1 ? "; " : "", sim::DescribeWaiting(warp));
  }
  if (shown > 4) absl::StrAppend(&waiting, "; and ", shown - 4, " more warps");
  return absl::StrFormat("block (%d,%d,%d), %d of %d warps have exited: %s", ctaid[0], ctaid[1],
                         ctaid[2], static_cast<int>(warps.size()) - live_warps_, warps.size(),
                         waiting);
}

void Block::TakeCounts(Counts& into) {
  counts.sectors_requested = log.sectors_requested;
  counts.useful_bytes = log.useful_bytes;
  into += counts;
  counts = Counts();
  log.sectors_requested = 0;
  log.useful_bytes = 0;
}

}  // namespace onepass::sim
