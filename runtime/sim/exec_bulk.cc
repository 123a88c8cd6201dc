// cp.async.bulk and cp.reduce.async.bulk. What is copied when: copies.h and cluster.h.
#include "absl/strings/str_format.h"
#include "runtime/sim/async_copy.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/combine.h"
#include "runtime/sim/lane_bytes.h"
#include "runtime/sim/memory_form.h"

namespace onepass::sim {
namespace {

constexpr int kSizeShift = 16;  // index into CombineOf's table

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
  CheckCopy(op, warp, lane,
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
      const LaneRange source{at.from, at.bytes, 16, /*store=*/false};
      if (GlobalBytes(op, warp, lane, source) == nullptr) return nullptr;
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
    copy.to = GlobalBytes(op, warp, lane, {to, bytes, 16, /*store=*/true});
    if (copy.to == nullptr) return nullptr;
    const uint64_t from = warp.In<uint64_t>(op.r[1])[lane];
    copy.from = SharedBytes(op, warp, lane, {from, bytes, 16, /*store=*/false});
    if (copy.from == nullptr) return nullptr;
    CopiesOf(warp).Add(copy);
    CheckCopy(op, warp, lane, {tag, to, from, bytes, bytes, /*updates=*/false, /*bulk=*/true});
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
    if (GlobalBytes(op, warp, lane, {from, bytes, 16, /*store=*/false}) == nullptr) return nullptr;
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
    uint8_t* target = GlobalBytes(op, warp, lane, {to, bytes, 16, /*store=*/true});
    if (target == nullptr) return nullptr;
    const uint64_t from = warp.In<uint64_t>(op.r[1])[lane];
    const uint8_t* source = SharedBytes(op, warp, lane, {from, bytes, 16, /*store=*/false});
    if (source == nullptr) return nullptr;
    combine(target, source, bytes);
    CheckCopy(op, warp, lane, {tag, to, from, bytes, bytes, /*updates=*/true, /*bulk=*/true});
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

}  // namespace

std::optional<AsyncPick> PickBulkCopy(Form& form) {
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
std::optional<AsyncPick> PickBulkReduction(Form& form) {
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

}  // namespace onepass::sim
