// mbarrier: barriers in shared memory that count arrivals and bytes.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/lane_bytes.h"
#include "runtime/sim/mbarrier.h"
#include "runtime/sim/memory_form.h"
#include "runtime/sim/waiting.h"

namespace onepass::sim {
namespace {

constexpr uint32_t kRelaxed = 1 << 8;  // of all

uint8_t* WordOf(const Op& op, Warp& warp, RowRef ref, int lane) {
  const uint64_t address = warp.In<uint64_t>(ref)[lane];
  return SharedBytes(op, warp, lane, {address, 8, 8, /*store=*/true});
}

void Touch(const Op& op, Warp& warp, RowRef ref, int lane, bool creates) {
  if (Checker* checker = warp.block->launch->checker; checker != nullptr) {
    checker->TouchMbarrier(op, warp, lane, warp.In<uint64_t>(ref)[lane], creates);
  }
}

// Loads the object at r[ref] of a lane; null after a fault.
uint8_t* Find(const Op& op, Warp& warp, RowRef ref, int lane, Mbarrier& barrier,
              bool ends = false) {
  uint8_t* word = WordOf(op, warp, ref, lane);
  if (word == nullptr) return nullptr;
  Touch(op, warp, ref, lane, ends);
  if (barrier.Load(word)) return word;
  Fault(warp, op, 1u << lane, "no mbarrier is initialised there");
  return nullptr;
}

// The lane has arrived at the object at r[ref], whose phase was odd or not before.
void NoteArrival(const Op& op, Warp& warp, RowRef ref, int lane, bool odd,
                 const Mbarrier& barrier) {
  if (Checker* checker = warp.block->launch->checker; checker != nullptr) {
    checker->ArriveAt(warp, lane, warp.In<uint64_t>(ref)[lane], (op.flags & kRelaxed) == 0,
                      barrier.odd_phase() != odd);
  }
}

// r[0] address, r[1] count.
const Op* Init(const Op& op, Warp& warp) {
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint8_t* word = WordOf(op, warp, op.r[0], lane);
    if (word == nullptr) return nullptr;
    const uint32_t count = warp.In<uint32_t>(op.r[1])[lane];
    if (count == 0 || count > Mbarrier::kMaxCount) {
      return Fault(warp, op, 1u << lane, absl::StrFormat("an mbarrier for %u arrivals", count));
    }
    Touch(op, warp, op.r[0], lane, /*creates=*/true);
    Mbarrier::Of(count).Store(word);
  }
  ++warp.block->progress;
  return &op + 1;
}

// r[0] address. The word may be used for anything afterwards.
const Op* Invalidate(const Op& op, Warp& warp) {
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    Mbarrier barrier;
    uint8_t* word = Find(op, warp, op.r[0], std::countr_zero(left), barrier, /*ends=*/true);
    if (word == nullptr) return nullptr;
    std::fill_n(word, 8, uint8_t{0});
  }
  return &op + 1;
}

constexpr uint32_t kHasState = 1;
constexpr uint32_t kExpects = 2;   // r[2] is a number of bytes
constexpr uint32_t kDrops = 4;     // one arrival less from now on
constexpr uint32_t kHasCount = 8;  // r[2] is a number of arrivals
constexpr uint32_t kNoComplete = 16;

// r[0] state, r[1] address, r[2] as the flags say.
const Op* Arrive(const Op& op, Warp& warp) {
  const bool operand = (op.flags & (kExpects | kHasCount)) != 0;
  const uint32_t* values = operand ? warp.In<uint32_t>(op.r[2]) : nullptr;
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    Mbarrier barrier;
    uint8_t* word = Find(op, warp, op.r[1], lane, barrier);
    if (word == nullptr) return nullptr;
    const uint32_t count = (op.flags & kHasCount) != 0 ? values[lane] : 1;
    const bool last = count == barrier.pending();
    if (count > barrier.pending() || ((op.flags & kNoComplete) != 0 && last)) {
      return Fault(warp, op, 1u << lane,
                   absl::StrFormat("%u arrivals at an mbarrier where %u are pending", count,
                                   barrier.pending()));
    }
    const uint64_t state = barrier.State();
    if ((op.flags & kExpects) != 0) barrier.ExpectBytes(values[lane]);
    if ((op.flags & kDrops) != 0) barrier.Drop(count);
    const bool odd = barrier.odd_phase();
    barrier.Arrive(count);
    barrier.Store(word);
    NoteArrival(op, warp, op.r[1], lane, odd, barrier);
    // Last: it may be the address's register.
    if ((op.flags & kHasState) != 0) warp.Out<uint64_t>(op.r[0])[lane] = state;
  }
  ++warp.block->progress;
  return &op + 1;
}

// r[0] address, r[1] bytes.
template <bool kComplete>
const Op* CountBytes(const Op& op, Warp& warp) {
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    Mbarrier barrier;
    uint8_t* word = Find(op, warp, op.r[0], lane, barrier);
    if (word == nullptr) return nullptr;
    const uint32_t bytes = warp.In<uint32_t>(op.r[1])[lane];
    const bool odd = barrier.odd_phase();
    if (kComplete) {
      barrier.CompleteBytes(bytes);
    } else {
      barrier.ExpectBytes(bytes);
    }
    barrier.Store(word);
    if (kComplete) NoteArrival(op, warp, op.r[0], lane, odd, barrier);
  }
  ++warp.block->progress;
  return &op + 1;
}

constexpr uint32_t kParity = 1;
constexpr uint32_t kSuspends = 2;  // try_wait

// The lanes whose phase has ended; false after a fault. r[0] predicate, r[1] address, r[2] state or
// parity.
bool EndedPhases(const Op& op, Warp& warp, uint32_t& ended) {
  ended = 0;
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    Mbarrier barrier;
    if (Find(op, warp, op.r[1], lane, barrier) == nullptr) return false;
    const bool odd = (op.flags & kParity) != 0
                         ? (warp.In<uint32_t>(op.r[2])[lane] & 1) != 0
                         : Mbarrier::OddPhaseOf(warp.In<uint64_t>(op.r[2])[lane]);
    if (barrier.odd_phase() == odd) continue;
    ended |= 1u << lane;
    if (Checker* checker = warp.block->launch->checker; checker != nullptr) {
      checker->WaitedAt(warp, lane, warp.In<uint64_t>(op.r[1])[lane], (op.flags & kRelaxed) == 0);
    }
  }
  return true;
}

// try_wait suspends its lanes once and then says what it finds, so that programs which give up some
// time do. Whoever asks again and again in vain lets the others run.
const Op* Wait(const Op& op, Warp& warp) {
  uint32_t ended = 0;
  if (!EndedPhases(op, warp, ended)) return nullptr;
  const bool all = ended == warp.exec;
  const bool suspends = (op.flags & kSuspends) != 0 && warp.retried != &op;
  if (!all && suspends) {
    warp.retried = &op;
    return Poll(warp, &op);
  }
  warp.retried = nullptr;
  warp.SetMask(op.r[0], ended);
  if (all) return &op + 1;
  --warp.unissued;
  return Poll(warp, &op + 1);
}

}  // namespace

std::optional<std::string> DescribeMbarrier(const Op& op, const Warp& warp, uint32_t lanes) {
  if (op.fn != &Wait && op.inner != &Wait) return std::nullopt;
  const uint64_t address = warp.In<uint64_t>(op.r[1])[std::countr_zero(lanes)];
  const uint64_t offset = address - kSharedWindow;
  const uint8_t* word = warp.block->cluster->SharedAt(*warp.block, offset, 8);
  Mbarrier barrier;
  if (word == nullptr || !barrier.Load(word)) return std::nullopt;
  return absl::StrFormat(
      "mbarrier at byte %d of shared memory: %d arrivals and %d bytes are missing",
      offset & kSharedOffsetMask, barrier.pending(), barrier.bytes());
}

namespace {

uint32_t PendingCount(uint64_t state) { return Mbarrier::PendingOf(state); }

std::optional<AsyncPick> PickArrive(Form& form, int operands, bool has_state) {
  Pick pick{&Arrive, {Type::kB64}, {Type::kB64}, has_state ? kHasState : 0};
  if (form.Take("expect_tx")) {
    pick.flags |= kExpects;
    pick.from.push_back(Type::kB32);
  } else if (operands == 3) {
    pick.flags |= kHasCount;
    pick.from.push_back(Type::kB32);
  }
  if (form.Take("noComplete")) pick.flags |= kNoComplete;
  return AsyncPick{pick};
}

std::optional<AsyncPick> PickWait(Form& form, bool suspends, int operands) {
  Pick pick{&Wait, {Type::kPred}, {Type::kB64}, suspends ? kSuspends : 0};
  const bool parity = form.Take("parity");
  if (parity) pick.flags |= kParity;
  pick.from.push_back(parity ? Type::kB32 : Type::kB64);
  if (suspends && operands == 4) pick.from.push_back(Type::kB32);  // a hint of time
  return AsyncPick{pick};
}

std::optional<AsyncPick> PickOperation(Form& form, int operands, bool has_state) {
  if (form.Take("init")) return AsyncPick{{&Init, {}, {Type::kB64, Type::kB32}}};
  if (form.Take("inval")) return AsyncPick{{&Invalidate, {}, {Type::kB64}}};
  if (form.Take("test_wait")) return PickWait(form, false, operands);
  if (form.Take("try_wait")) return PickWait(form, true, operands);
  if (form.Take("arrive")) return PickArrive(form, operands, has_state);
  if (form.Take("arrive_drop")) {
    auto pick = PickArrive(form, operands, has_state);
    pick->pick.flags |= kDrops;
    return pick;
  }
  if (form.Take("expect_tx")) {
    return AsyncPick{{&CountBytes<false>, {}, {Type::kB64, Type::kB32}}};
  }
  if (form.Take("complete_tx")) {
    return AsyncPick{{&CountBytes<true>, {}, {Type::kB64, Type::kB32}}};
  }
  if (form.Take("pending_count")) return AsyncPick{Lanes<&PendingCount>()};
  return std::nullopt;
}

}  // namespace

std::optional<AsyncPick> PickMbarrier(Form& form, int operands, bool has_state) {
  auto pick = PickOperation(form, operands, has_state);
  if (!pick) return std::nullopt;
  const uint32_t order = TakeOrder(form);
  if (order != 0 && (order & (AccessFlags::kAcquire | AccessFlags::kRelease)) == 0 &&
      (order & AccessFlags::kStrongOrder) != 0) {
    pick->pick.flags |= kRelaxed;
  }
  const Space space = TakeSpace(form);
  if (space != Space::kGeneric && space != Space::kShared && space != Space::kSharedCluster) {
    return std::nullopt;
  }
  pick->spaces = {space};
  if (!form.Take("b64")) return std::nullopt;
  return pick;
}

}  // namespace onepass::sim
