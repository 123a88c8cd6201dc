// cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async and red.async.
//
// Addresses come as generic ones in rows of 64 bits, offsets added. What is copied when: copies.h
// and cluster.h.
#include <algorithm>
#include <cstring>

#include "absl/strings/str_format.h"
#include "runtime/sim/addresses.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/combine.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/lane_bytes.h"
#include "runtime/sim/mbarrier.h"
#include "runtime/sim/memory_form.h"

namespace onepass::sim {
namespace {

using F = AccessFlags;

ThreadCopies& CopiesOf(Warp& warp) {
  Block& block = *warp.block;
  if (block.copies.empty()) block.copies.resize(block.warps.size());
  return block.copies[warp.index];
}

// Of a launch that is checked: what the instruction's copies are called.
CopyTag TagFor(Warp& warp) {
  Checker* checker = warp.block->launch->checker;
  return checker == nullptr ? CopyTag() : checker->TagFor(warp);
}
void Check(const Op& op, Warp& warp, int lane, const Checker::Copy& copy) {
  Checker* checker = warp.block->launch->checker;
  if (checker != nullptr) checker->StartCopy(op, warp, lane, copy);
}
// The copies are waited for.
void Waited(Warp& warp, const std::vector<AsyncCopy>& made, bool reads_only) {
  warp.block->progress += static_cast<int64_t>(made.size());
  Checker* checker = warp.block->launch->checker;
  if (checker == nullptr) return;
  for (const AsyncCopy& copy : made) checker->Waited(warp, copy.lane, copy.tag, reads_only);
}

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
      copy.from = LaneBytes(op, warp, lane, {from.at[lane], bytes, size, /*store=*/false});
      if (copy.from == nullptr) return nullptr;
      if (bytes == size) {
        whole |= 1u << lane;
      } else if (warp.block->launch->count_traffic) {
        warp.block->log.Read(from.at[lane], bytes, PolicyOf(op, warp));
      }
    }
    CopiesOf(warp).Add(copy);
    Check(op, warp, lane,
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

// Reads of global memory by the copy engine, sector by sector.
void LogBulkRead(const Op& op, Warp& warp, uint64_t address, int64_t bytes) {
  CachePolicy policy = PolicyOf(op, warp);
  policy.use_l1 = policy.fill_l1 = false;
  if (warp.block->launch->count_traffic) warp.block->log.Read(address, bytes, policy);
}

bool GoodBulkSize(const Op& op, Warp& warp, int lane, uint32_t bytes) {
  if (bytes != 0 && bytes % 16 == 0) return true;
  Fault(warp, op, 1u << lane, absl::StrFormat("a bulk copy of %u bytes", bytes),
        Finding::Kind::kOutOfBounds);
  return false;
}

constexpr uint32_t kMulticast = 1 << 16;   // r[4] is a mask of ranks
constexpr uint32_t kFromShared = 1 << 17;  // the source is shared memory

uint64_t InBlock(uint64_t address, int rank) {
  const uint64_t at = address - kSharedWindow;
  return kSharedWindow + ((at & kSharedOffsetMask) | static_cast<uint64_t>(rank + 1) << kRankShift);
}

struct BulkAddresses {
  uint64_t to;
  uint64_t from;
  uint64_t barrier;
  uint32_t bytes;
  Combine combine;  // null: a copy
  CopyTag tag;
};

// One bulk copy into a block's shared memory that ends at an mbarrier there.
bool AddDelivery(const Op& op, Warp& warp, int lane, const BulkAddresses& at) {
  Delivery delivery{.bytes = at.bytes, .combine = at.combine, .warp = &warp, .op = &op};
  delivery.lane = lane;
  delivery.tag = at.tag;
  delivery.to = SharedBytes(op, warp, lane, {at.to, at.bytes, 16, /*store=*/true});
  if (delivery.to == nullptr) return false;
  delivery.from = LaneBytes(op, warp, lane, {at.from, at.bytes, 16, /*store=*/false});
  if (delivery.from == nullptr) return false;
  delivery.barrier = SharedBytes(op, warp, lane, {at.barrier, 8, 8, /*store=*/true});
  if (delivery.barrier == nullptr) return false;
  warp.block->cluster->deliveries.push_back(delivery);
  Check(op, warp, lane,
        {at.tag, at.to, at.from, at.bytes, at.bytes, at.combine != nullptr, /*bulk=*/true});
  return true;
}

// r[0] destination, r[1] source, r[2] bytes, r[3] mbarrier, r[4] ranks.
const Op* AddDeliveries(const Op& op, Warp& warp, uint32_t flags, Combine combine) {
  const CopyTag tag = TagFor(warp);
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    BulkAddresses at{warp.In<uint64_t>(op.r[0])[lane],
                     warp.In<uint64_t>(op.r[1])[lane],
                     warp.In<uint64_t>(op.r[3])[lane],
                     warp.In<uint32_t>(op.r[2])[lane],
                     combine,
                     tag};
    if (!GoodBulkSize(op, warp, lane, at.bytes)) return nullptr;
    if ((flags & kFromShared) == 0) {
      LogBulkRead(op, warp, at.from, at.bytes);
      warp.block->NoteLoad(op, at.bytes);
    }
    if ((flags & kMulticast) == 0) {
      if (!AddDelivery(op, warp, lane, at)) return nullptr;
      continue;
    }
    for (uint32_t ranks = warp.In<uint32_t>(op.r[4])[lane] & 0xffff; ranks != 0;
         ranks &= ranks - 1) {
      BulkAddresses there = at;
      there.to = InBlock(at.to, std::countr_zero(ranks));
      there.barrier = InBlock(at.barrier, std::countr_zero(ranks));
      if (!AddDelivery(op, warp, lane, there)) return nullptr;
    }
  }
  return &op + 1;
}

const Op* BulkToShared(const Op& op, Warp& warp) {
  return AddDeliveries(op, warp, op.flags, nullptr);
}

// r[0] destination, r[1] source, r[2] bytes. Ends with its group.
const Op* BulkToGlobal(const Op& op, Warp& warp) {
  const CopyTag tag = TagFor(warp);
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint32_t bytes = warp.In<uint32_t>(op.r[2])[lane];
    if (!GoodBulkSize(op, warp, lane, bytes)) return nullptr;
    AsyncCopy copy{.bytes = bytes, .size = bytes, .lane = static_cast<uint8_t>(lane), .bulk = true};
    copy.tag = tag;
    const uint64_t to = warp.In<uint64_t>(op.r[0])[lane];
    copy.to = LaneBytes(op, warp, lane, {to, bytes, 16, /*store=*/true});
    if (copy.to == nullptr) return nullptr;
    const uint64_t from = warp.In<uint64_t>(op.r[1])[lane];
    copy.from = SharedBytes(op, warp, lane, {from, bytes, 16, /*store=*/false});
    if (copy.from == nullptr) return nullptr;
    CopiesOf(warp).Add(copy);
    Check(op, warp, lane, {tag, to, from, bytes, bytes, /*updates=*/false, /*bulk=*/true});
    if (warp.block->launch->count_traffic) {
      warp.block->log.Write(to, bytes, PolicyOf(op, warp));
    }
  }
  return &op + 1;
}

// r[0] source, r[1] bytes.
const Op* BulkPrefetch(const Op& op, Warp& warp) {
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t from = warp.In<uint64_t>(op.r[0])[lane];
    const uint32_t bytes = warp.In<uint32_t>(op.r[1])[lane];
    if (!GoodBulkSize(op, warp, lane, bytes)) return nullptr;
    if (LaneBytes(op, warp, lane, {from, bytes, 16, /*store=*/false}) == nullptr) return nullptr;
    if (!warp.block->launch->count_traffic) continue;
    for (uint64_t at = from; at < from + bytes; at += 32) warp.block->log.Prefetch(at);
  }
  return &op + 1;
}

// Reductions into global memory happen in the fixed order of all atomics, at their issue.
// flags >> kSizeShift: index into CombineOf's table.
const Op* ReduceIntoGlobal(const Op& op, Warp& warp) {
  if (!warp.serial) return warp.StopAt(op, Stop::kOrdered);
  const Combine combine = CombineAt(op.flags >> kSizeShift & 0xff);
  const CopyTag tag = TagFor(warp);
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint32_t bytes = warp.In<uint32_t>(op.r[2])[lane];
    if (!GoodBulkSize(op, warp, lane, bytes)) return nullptr;
    const uint64_t to = warp.In<uint64_t>(op.r[0])[lane];
    uint8_t* target = LaneBytes(op, warp, lane, {to, bytes, 16, /*store=*/true});
    if (target == nullptr) return nullptr;
    const uint64_t from = warp.In<uint64_t>(op.r[1])[lane];
    const uint8_t* source = SharedBytes(op, warp, lane, {from, bytes, 16, /*store=*/false});
    if (source == nullptr) return nullptr;
    combine(target, source, bytes);
    Check(op, warp, lane, {tag, to, from, bytes, bytes, /*updates=*/true, /*bulk=*/true});
    AsyncCopy done{.lane = static_cast<uint8_t>(lane), .bulk = true, .made = true, .tag = tag};
    if (warp.block->launch->checker != nullptr) CopiesOf(warp).Add(done);
    if (!warp.block->launch->count_traffic) continue;
    for (uint64_t at = to; at < to + bytes; at += 32) warp.block->log.Update(&at, 1, 16);
  }
  ++warp.block->progress;
  return &op + 1;
}

// r[0] destination, r[1] source, r[2] bytes, r[3] mbarrier.
const Op* ReduceIntoShared(const Op& op, Warp& warp) {
  return AddDeliveries(op, warp, kFromShared, CombineAt(op.flags >> kSizeShift & 0xff));
}

// st.async, red.async: r[0] destination, r[1...] values, then the mbarrier. flags: bytes of a
// value, how many, and for red.async the index of its function plus one.
constexpr int kValuesShift = 4;
constexpr int kCombineShift = 8;

const Op* StoreAsync(const Op& op, Warp& warp) {
  const int bytes = static_cast<int>(op.flags & 15);
  const int values = static_cast<int>(op.flags >> kValuesShift & 15);
  const uint32_t combine = op.flags >> kCombineShift;
  const CopyTag tag = TagFor(warp);
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    Delivery delivery{.bytes = int64_t{bytes} * values, .warp = &warp, .op = &op};
    if (combine != 0) delivery.combine = CombineAt(combine - 1);
    delivery.lane = lane;
    delivery.tag = tag;
    const uint64_t to = warp.In<uint64_t>(op.r[0])[lane];
    delivery.to = SharedBytes(op, warp, lane, {to, delivery.bytes, delivery.bytes, true});
    if (delivery.to == nullptr) return nullptr;
    const uint64_t barrier = warp.In<uint64_t>(op.r[1 + values])[lane];
    delivery.barrier = SharedBytes(op, warp, lane, {barrier, 8, 8, /*store=*/true});
    if (delivery.barrier == nullptr) return nullptr;
    for (int i = 0; i < values; ++i) {
      const uint64_t value =
          bytes == 8 ? warp.In<uint64_t>(op.r[1 + i])[lane] : warp.In<uint32_t>(op.r[1 + i])[lane];
      std::memcpy(delivery.value + i * bytes, &value, bytes);
    }
    warp.block->cluster->deliveries.push_back(delivery);
    const auto size = static_cast<uint32_t>(delivery.bytes);
    Check(op, warp, lane, {.tag = tag, .to = to, .size = size, .updates = combine != 0});
  }
  return &op + 1;
}

void TakeHint(Form& form, Pick& pick) {
  if (!form.Take("L2::cache_hint")) return;
  pick.flags |= static_cast<uint32_t>(pick.from.size()) << kPolicyShift;
  pick.from.push_back(Type::kB64);
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
  if (hint) {
    pick.flags |= static_cast<uint32_t>(pick.from.size()) << kPolicyShift;
    pick.from.push_back(Type::kB64);
  }
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

std::optional<AsyncPick> PickBulk(Form& form) {
  Pick pick{nullptr, {}, {Type::kB64, Type::kB64, Type::kB32}};
  if (form.Take("prefetch")) {
    if (!form.Take("L2") || !form.Take("global")) return std::nullopt;
    pick = Pick{&BulkPrefetch, {}, {Type::kB64, Type::kB32}};
    TakeHint(form, pick);
    return AsyncPick{pick, {Space::kGlobal}};
  }
  if (form.Take("mbarrier::complete_tx::bytes")) {
    const bool from_global = form.Take("global");
    const bool to_cluster = form.Take("shared::cluster");
    const bool cta = form.Take("shared::cta");
    if (from_global ? to_cluster == cta : !to_cluster || !cta) return std::nullopt;
    pick.fn = &BulkToShared;
    if (!from_global) pick.flags |= kFromShared;
    pick.from.push_back(Type::kB64);
    if (form.Take("multicast::cluster")) {
      pick.flags |= kMulticast;
      pick.from.push_back(Type::kB16);
    }
    TakeHint(form, pick);
    return AsyncPick{pick,
                     {Space::kSharedCluster, from_global ? Space::kGlobal : Space::kShared,
                      Space::kSharedCluster}};
  }
  if (!form.Take("global") || !form.Take("shared::cta") || !form.Take("bulk_group")) {
    return std::nullopt;
  }
  pick.fn = &BulkToGlobal;
  TakeHint(form, pick);
  return AsyncPick{pick, {Space::kGlobal, Space::kShared}};
}

// cp.reduce.async.bulk
std::optional<AsyncPick> PickReduce(Form& form) {
  if (!form.Take("async") || !form.Take("bulk")) return std::nullopt;
  const bool to_global = form.Take("global");
  const bool to_cluster = !to_global && form.Take("shared::cluster");
  if (!form.Take("shared::cta") || (!to_global && !to_cluster)) return std::nullopt;
  if (!form.Take(to_global ? "bulk_group" : "mbarrier::complete_tx::bytes")) return std::nullopt;
  Pick pick{
      to_global ? &ReduceIntoGlobal : &ReduceIntoShared, {}, {Type::kB64, Type::kB64, Type::kB32}};
  if (!to_global) pick.from.push_back(Type::kB64);
  TakeHint(form, pick);
  const auto type = form.TakeType();
  const auto combine = type ? TakeCombine(form, *type, to_global) : std::nullopt;
  if (!combine) return std::nullopt;
  pick.flags |= *combine << kSizeShift;
  return AsyncPick{
      pick,
      {to_global ? Space::kGlobal : Space::kSharedCluster, Space::kShared, Space::kSharedCluster}};
}

}  // namespace

std::optional<AsyncPick> PickAsyncCopy(Form& form, int operands, bool predicate) {
  if (form.Take("reduce")) return PickReduce(form);
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
  return form.Take("bulk") ? PickBulk(form) : PickCopy(form, operands, predicate);
}

std::optional<AsyncPick> PickAsyncStore(Form& form) {
  form.Take("weak");
  form.Take("relaxed");
  form.Take("cluster");
  form.Take("shared::cluster");
  if (!form.Take("async") || !form.Take("mbarrier::complete_tx::bytes")) return std::nullopt;
  uint32_t values = 1;
  if (form.Take("v2")) values = 2;
  if (form.Take("v4")) values = 4;
  const auto type = form.TakeType();
  if (!type || (BitsOf(*type) != 32 && BitsOf(*type) != 64)) return std::nullopt;
  const uint32_t bytes = static_cast<uint32_t>(BitsOf(*type) / 8);
  if (bytes * values > 16) return std::nullopt;
  Pick pick{&StoreAsync, {}, {Type::kB64}, bytes | values << kValuesShift};
  if (form.base() == "red") {
    const auto combine = TakeCombine(form, *type, /*global=*/false);
    if (!combine || values != 1) return std::nullopt;
    pick.flags |= (*combine + 1) << kCombineShift;
  }
  for (uint32_t i = 0; i < values; ++i) pick.from.push_back(*type);
  pick.from.push_back(Type::kB64);
  return AsyncPick{pick, {Space::kSharedCluster, Space::kSharedCluster}};
}

}  // namespace onepass::sim
