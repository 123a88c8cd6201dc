// Clusters: their barrier and the addresses of other blocks' shared memory.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/addresses.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/waiting.h"
#include "runtime/sim/where.h"

namespace onepass::sim {
namespace {

constexpr uint32_t kAligned = 1;
constexpr uint32_t kRelaxed = 2;

const Op* WaitForWarp(const Op& op, Warp& warp) {
  ++warp.unissued;
  return Reschedule(warp, &op, Path::State::kAtSync);
}

const Op* Arrive(const Op& op, Warp& warp) {
  if ((op.flags & kAligned) != 0 && !HasLanes(warp, warp.live)) return WaitForWarp(op, warp);
  if ((warp.cluster_owed & warp.exec) != 0) {
    return Fault(warp, op, warp.cluster_owed & warp.exec,
                 "arrives at the cluster's barrier a second time before it has waited");
  }
  warp.block->cluster->Arrive(warp, (op.flags & kRelaxed) == 0);
  return &op + 1;
}

const Op* Wait(const Op& op, Warp& warp) {
  if ((op.flags & kAligned) != 0 && !HasLanes(warp, warp.live)) return WaitForWarp(op, warp);
  if ((warp.exec & ~warp.cluster_owed) != 0) {
    return Fault(warp, op, warp.exec & ~warp.cluster_owed,
                 "waits at the cluster's barrier without having arrived");
  }
  warp.block->cluster->TryRelease();  // others may have exited
  if ((warp.cluster_arrived & warp.exec) != 0) return Poll(warp, &op);
  warp.block->cluster->Leave(warp);
  return &op + 1;
}

}  // namespace

std::optional<std::string> DescribeClusterBarrier(const Op& op, const Warp& warp) {
  if (op.fn != &Wait && op.inner != &Wait) return std::nullopt;
  std::string missing;
  int more = -1;
  for (const Block* block : warp.block->cluster->blocks) {
    for (const Warp& other : block->warps) {
      const uint32_t lanes = other.live & ~other.cluster_arrived;
      if (lanes == 0 || ++more > 0) continue;
      missing = absl::StrFormat("block %s warp %d lanes %08x",
                                BlockName(*block->launch, block->index), other.index, lanes);
    }
  }
  if (more > 0) absl::StrAppend(&missing, " and ", more, " more warps");
  return absl::StrCat("cluster's barrier: ", missing.empty() ? "nobody" : missing,
                      " has not arrived");
}

namespace {

// A shared::cluster address of block `rank` from one of any block.
uint32_t Map(uint32_t address, uint32_t rank) {
  return (address & kSharedOffsetMask) | (rank + 1) << kRankShift;
}
uint64_t MapShared(uint64_t address, uint32_t rank) {
  return Map(static_cast<uint32_t>(address), rank);
}
uint64_t MapGeneric(uint64_t address, uint32_t rank) {
  return kSharedWindow + Map(static_cast<uint32_t>(address), rank);
}

// r[0] rank, r[1] address.
const Op* RankOf(const Op& op, Warp& warp) {
  const uint64_t* from = warp.In<uint64_t>(op.r[1]);
  alignas(64) uint32_t lanes[32];
  for (int i = 0; i < 32; ++i) {
    const uint32_t rank = static_cast<uint32_t>(from[i]) >> kRankShift;
    lanes[i] = rank == 0 ? static_cast<uint32_t>(warp.block->rank) : rank - 1;
  }
  Blend(warp.Out<uint32_t>(op.r[0]), lanes, warp.exec);
  return &op + 1;
}
const Op* RankOf32(const Op& op, Warp& warp) {
  const uint32_t* from = warp.In<uint32_t>(op.r[1]);
  alignas(64) uint32_t lanes[32];
  for (int i = 0; i < 32; ++i) {
    const uint32_t rank = from[i] >> kRankShift;
    lanes[i] = rank == 0 ? static_cast<uint32_t>(warp.block->rank) : rank - 1;
  }
  Blend(warp.Out<uint32_t>(op.r[0]), lanes, warp.exec);
  return &op + 1;
}

template <Space kSpace>
bool IsIn(uint64_t address) {
  if constexpr (kSpace == Space::kShared) return address - kSharedWindow <= kSharedOffsetMask;
  if constexpr (kSpace == Space::kSharedCluster) return SpaceOfAddress(address) == Space::kShared;
  return SpaceOfAddress(address) == kSpace;
}

}  // namespace

std::optional<Pick> PickSpaceTest(Form& form) {
  if (form.Take("shared") || form.Take("shared::cta")) return Lanes<&IsIn<Space::kShared>>();
  if (form.Take("shared::cluster")) return Lanes<&IsIn<Space::kSharedCluster>>();
  if (form.Take("global")) return Lanes<&IsIn<Space::kGlobal>>();
  if (form.Take("local")) return Lanes<&IsIn<Space::kLocal>>();
  if (form.Take("param")) return Lanes<&IsIn<Space::kParam>>();
  return std::nullopt;
}

std::optional<Pick> PickClusterBarrier(Form& form) {
  if (!form.Take("cluster")) return std::nullopt;
  Pick pick;
  if (form.Take("arrive")) {
    pick.fn = &Arrive;
    form.Take("release");
    if (form.Take("relaxed")) pick.flags |= kRelaxed;
  } else if (form.Take("wait")) {
    pick.fn = &Wait;
    form.Take("acquire");
  } else {
    return std::nullopt;
  }
  if (form.Take("aligned")) pick.flags |= kAligned;
  return pick;
}

std::optional<Pick> PickClusterAddress(Form& form) {
  const bool shared = form.Take("shared::cluster");
  const bool wide = form.Take("u64");
  if (!wide && !form.Take("u32")) return std::nullopt;
  if (form.base() == "getctarank") {
    return wide ? Pick{&RankOf, {Type::kB32}, {Type::kB64}}
                : Pick{&RankOf32, {Type::kB32}, {Type::kB32}};
  }
  if (!wide) return Lanes<&Map>();
  return shared ? Lanes<&MapShared>() : Lanes<&MapGeneric>();
}

}  // namespace onepass::sim
