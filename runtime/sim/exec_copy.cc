// cp.async: copies of single threads, their groups, and their arrival at mbarriers.
//
// Addresses come as generic ones in rows of 64 bits, offsets added. What is copied when: copies.h.
#include "runtime/sim/async_copy.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/lane_bytes.h"
#include "runtime/sim/mbarrier.h"
#include "runtime/sim/memory_form.h"

namespace onepass::sim {
namespace {

using F = AccessFlags;

// cp.async: flags besides those of AccessFlags.
constexpr int kSizeShift = 16;                // 4, 8 or 16 bytes
constexpr uint32_t kHasSourceSize = 1 << 21;  // r[2] is a number of bytes
constexpr uint32_t kHasIgnore = 1 << 22;      // r[2] is a predicate

uint32_t SourceBytes(const Op& op, const Warp& warp, int lane, uint32_t size) {
  if ((op.flags & kHasSourceSize) != 0) return warp.In<uint32_t>(op.r[2])[lane];
  if ((op.flags & kHasIgnore) != 0) {
    return (*warp.In<uint32_t>(op.r[2]) >> lane & 1) != 0 ? 0 : size;
  }
  return size;
}

// r[0] shared address, r[1] global address, r[2] as the flags say.
const Op* CopyAsync(const Op& op, Warp& warp) {
  const uint32_t size = op.flags >> kSizeShift & 31;
  LaneAddresses from(op, warp, op.r[1], 0);
  const int64_t before = warp.block->log.useful_bytes;
  uint32_t whole = 0;
  const CopyTag tag = TagFor(warp);
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint32_t bytes = SourceBytes(op, warp, lane, size);
    if (bytes > size) return Fault(warp, op, 1u << lane, "cp.async of more bytes than its size");
    AsyncCopy copy{.bytes = bytes, .size = size, .lane = static_cast<uint8_t>(lane), .tag = tag};
    const uint64_t to = warp.In<uint64_t>(op.r[0])[lane];
    copy.to = SharedBytes(op, warp, lane, {to, size, size, /*store=*/true});
    if (copy.to == nullptr) return nullptr;
    if (bytes != 0) {
      copy.from = GlobalBytes(op, warp, lane, {from.at[lane], bytes, size, /*store=*/false});
      if (copy.from == nullptr) return nullptr;
      if (bytes == size) {
        whole |= 1u << lane;
      } else if (warp.block->launch->count_traffic) {
        warp.block->log.Read(from.at[lane], bytes, PolicyOf(op, warp));
      }
    }
    CopiesOf(warp).Add(copy);
    CheckCopy(op, warp, lane,
              {.tag = tag, .to = to, .from = from.at[lane], .bytes = bytes, .size = size});
  }
  if (whole != 0 && warp.block->launch->count_traffic) {
    warp.block->log.Gather(from.at, whole, size, PolicyOf(op, warp));
  }
  warp.block->NoteLoad(op, warp.block->log.useful_bytes - before);
  return &op + 1;
}

template <bool kBulk>
const Op* CommitGroup(const Op& op, Warp& warp) {
  CopiesOf(warp).Commit(warp.exec, kBulk);
  return &op + 1;
}

// r[0] how many groups may be left.
template <bool kBulk>
const Op* WaitGroup(const Op& op, Warp& warp) {
  const uint32_t allowed = warp.In<uint32_t>(op.r[0])[std::countr_zero(warp.exec)];
  Waited(warp, CopiesOf(warp).Finish(warp.exec, kBulk, allowed, /*open=*/false), false);
  return &op + 1;
}

const Op* WaitReads(const Op& op, Warp& warp) {
  const uint32_t allowed = warp.In<uint32_t>(op.r[0])[std::countr_zero(warp.exec)];
  Waited(warp, CopiesOf(warp).FinishReads(warp.exec, allowed), /*reads_only=*/true);
  return &op + 1;
}

const Op* WaitAll(const Op& op, Warp& warp) {
  Waited(warp, CopiesOf(warp).Finish(warp.exec, /*bulk=*/false, 0, /*open=*/true), false);
  return &op + 1;
}

// The lane's copies among `made` are counted at the mbarrier at `word`.
void CopiesArrive(const Warp& warp, int lane, const std::vector<AsyncCopy>& made,
                  const uint8_t* word, bool ended) {
  Checker* checker = warp.block->launch->checker;
  if (checker == nullptr) return;
  for (const AsyncCopy& copy : made) {
    if (copy.lane == lane) checker->CopyArrivedAt(warp, lane, copy.tag, word, ended);
  }
}

// cp.async.mbarrier.arrive: the arrival follows the thread's copies, which are made at once.
constexpr uint32_t kNoIncrement = 1;
const Op* ArriveAfterCopies(const Op& op, Warp& warp) {
  const auto made = CopiesOf(warp).Finish(warp.exec, /*bulk=*/false, 0, /*open=*/true);
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t address = warp.In<uint64_t>(op.r[0])[lane];
    uint8_t* word = SharedBytes(op, warp, lane, {address, 8, 8, /*store=*/true});
    if (word == nullptr) return nullptr;
    Mbarrier barrier;
    if (!barrier.Load(word)) {
      return Fault(warp, op, 1u << lane, "no mbarrier is initialised there");
    }
    // Without .noinc the arrival is one that was not expected: counted up and down at once.
    const bool odd = barrier.odd_phase();
    if ((op.flags & kNoIncrement) != 0) barrier.Arrive(1);
    barrier.Store(word);
    CopiesArrive(warp, lane, made, word, barrier.odd_phase() != odd);
  }
  ++warp.block->progress;
  return &op + 1;
}

// [dst], [src], size{, source size or predicate}{, policy}
std::optional<AsyncPick> PickCopy(Form& form, int operands, bool predicate) {
  Pick pick{&CopyAsync, {}, {Type::kB64, Type::kB64}};
  if (form.Take("cg")) {
    pick.flags |= F::kSkipL1;
  } else if (!form.Take("ca")) {
    return std::nullopt;
  }
  if ((!form.Take("shared") && !form.Take("shared::cta")) || !form.Take("global")) {
    return std::nullopt;
  }
  const bool hint = form.Take("L2::cache_hint");
  if (!form.Take("L2::64B") && !form.Take("L2::128B")) form.Take("L2::256B");
  if (operands - hint == 4) {
    pick.flags |= predicate ? kHasIgnore : kHasSourceSize;
    pick.from.push_back(predicate ? Type::kPred : Type::kB32);
  }
  if (hint) AddHint(pick);
  return AsyncPick{pick, {Space::kShared, Space::kGlobal}};
}

std::optional<AsyncPick> PickGroups(Form& form) {
  const bool bulk = form.Take("bulk");
  if (form.Take("commit_group")) {
    return AsyncPick{{bulk ? &CommitGroup<true> : &CommitGroup<false>}};
  }
  if (form.Take("wait_group")) {
    if (bulk && form.Take("read")) return AsyncPick{{&WaitReads, {}, {Type::kB32}}};
    return AsyncPick{{bulk ? &WaitGroup<true> : &WaitGroup<false>, {}, {Type::kB32}}};
  }
  if (!bulk && form.Take("wait_all")) return AsyncPick{{&WaitAll}};
  return std::nullopt;
}

}  // namespace

std::optional<AsyncPick> PickAsyncCopy(Form& form, int operands, bool predicate) {
  if (form.Take("reduce")) return PickBulkReduction(form);
  if (!form.Take("async")) return std::nullopt;
  if (form.Take("mbarrier")) {
    if (!form.Take("arrive")) return std::nullopt;
    const uint32_t flags = form.Take("noinc") ? kNoIncrement : 0;
    const Space space = TakeSpace(form);
    if (!form.Take("b64")) return std::nullopt;
    return AsyncPick{{&ArriveAfterCopies, {}, {Type::kB64}, flags}, {space}};
  }
  if (form.Has("commit_group") || form.Has("wait_group") || form.Has("wait_all")) {
    return PickGroups(form);
  }
  return form.Take("bulk") ? PickBulkCopy(form) : PickCopy(form, operands, predicate);
}

}  // namespace onepass::sim
