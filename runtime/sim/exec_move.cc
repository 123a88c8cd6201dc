// mov of every kind: rows, packs, special registers; cvta.
#include <algorithm>
#include <cstring>

#include "runtime/sim/exec.h"

namespace onepass::sim {
namespace {

template <class Bits>
const Op* Move(const Op& op, Warp& warp) {
  Bits* to = warp.Out<Bits>(op.r[0]);
  const Bits* from = warp.In<Bits>(op.r[1]);
  if (warp.exec == kAllLanes) [[likely]] {
    if (to != from) std::memcpy(to, from, 32 * sizeof(Bits));
  } else {
    Blend(to, from, warp.exec);
  }
  return &op + 1;
}

const Op* MoveMask(const Op& op, Warp& warp) {
  warp.SetMask(op.r[0], *warp.In<uint32_t>(op.r[1]));
  return &op + 1;
}

// r[0] the whole, r[1...] the parts from the lowest.
template <class Whole, class Part, int N, int kPartBits>
const Op* PackRow(const Op& op, Warp& warp) {
  alignas(64) Whole lanes[32] = {};
  for (int n = 0; n < N; ++n) {
    const Part* part = warp.In<Part>(op.r[1 + n]);
    for (int i = 0; i < 32; ++i) {
      const Whole bits = part[i] & (~Whole{0} >> (sizeof(Whole) * 8 - kPartBits));
      lanes[i] |= bits << (n * kPartBits);
    }
  }
  Blend(warp.Out<Whole>(op.r[0]), lanes, warp.exec);
  return &op + 1;
}

// r[0...] the parts from the lowest, r[N] the whole.
template <class Whole, class Part, int N, int kPartBits>
const Op* Unpack(const Op& op, Warp& warp) {
  alignas(64) Whole whole[32];
  std::memcpy(whole, warp.In<Whole>(op.r[N]), sizeof(whole));
  for (int n = 0; n < N; ++n) {
    alignas(64) Part lanes[32];
    for (int i = 0; i < 32; ++i) {
      lanes[i] = static_cast<Part>(whole[i] >> (n * kPartBits) &
                                   (~Whole{0} >> (sizeof(Whole) * 8 - kPartBits)));
    }
    Blend(warp.Out<Part>(op.r[n]), lanes, warp.exec);
  }
  return &op + 1;
}

enum class Register {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLt,
  kLanemaskLe,
  kLanemaskGt,
  kLanemaskGe,
  kClock,
  kClock64,
  kClockHi,
  kGlobaltimer,
  kDynamicShared,
  kTotalShared,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtarank,
  kClusterNctarank,
  kIsExplicitCluster,
  kZero,
};

uint64_t ClusterValueOf(Register which, const Block& block) {
  const Launch& launch = *block.launch;
  if (which == Register::kClusterCtarank) return block.rank;
  if (which == Register::kClusterNctarank) return launch.cluster_blocks;
  if (which == Register::kIsExplicitCluster) return launch.has_clusters ? 1 : 0;
  const int place = static_cast<int>(which) - static_cast<int>(Register::kClusterCtaidX);
  const int axis = place % 3;
  const uint32_t size = launch.cluster[axis];
  switch (place / 3) {
    case 0:
      return block.ctaid[axis] % size;
    case 1:
      return size;
    case 2:
      return block.ctaid[axis] / size;
    default:
      return launch.grid[axis] / size;
  }
}

uint64_t ValueOf(Register which, const Warp& warp, int lane) {
  const Block& block = *warp.block;
  const Launch& launch = *block.launch;
  const uint32_t thread = warp.index * 32 + lane;
  const uint32_t x = launch.block[0], y = launch.block[1];
  const uint32_t bit = 1u << lane;
  switch (which) {
    case Register::kTidX:
      return thread % x;
    case Register::kTidY:
      return thread / x % y;
    case Register::kTidZ:
      return thread / x / y;
    case Register::kNtidX:
      return launch.block[0];
    case Register::kNtidY:
      return launch.block[1];
    case Register::kNtidZ:
      return launch.block[2];
    case Register::kCtaidX:
      return block.ctaid[0];
    case Register::kCtaidY:
      return block.ctaid[1];
    case Register::kCtaidZ:
      return block.ctaid[2];
    case Register::kNctaidX:
      return launch.grid[0];
    case Register::kNctaidY:
      return launch.grid[1];
    case Register::kNctaidZ:
      return launch.grid[2];
    case Register::kLaneid:
      return lane;
    case Register::kWarpid:
      return warp.index;
    case Register::kNwarpid:
      return launch.warps;
    case Register::kSmid:
      return block.index % launch.sms;
    case Register::kNsmid:
      return launch.sms;
    case Register::kLanemaskEq:
      return bit;
    case Register::kLanemaskLt:
      return bit - 1;
    case Register::kLanemaskLe:
      return bit | (bit - 1);
    case Register::kLanemaskGt:
      return ~(bit | (bit - 1));
    case Register::kLanemaskGe:
      return ~(bit - 1);
    case Register::kClock:
      return static_cast<uint32_t>(block.clock);
    case Register::kClock64:
    case Register::kGlobaltimer:
      return block.clock;
    case Register::kClockHi:
      return block.clock >> 32;
    case Register::kDynamicShared:
      return launch.dynamic_shared_bytes;
    case Register::kTotalShared:
      return launch.shared_bytes;
    case Register::kGridid:
    case Register::kZero:
      return 0;
    default:
      return ClusterValueOf(which, block);
  }
}

constexpr bool VariesByLane(Register which) {
  return which <= Register::kTidZ || which == Register::kLaneid ||
         (which >= Register::kLanemaskEq && which <= Register::kLanemaskGe);
}

template <Register kWhich, class Bits>
const Op* ReadRegister(const Op& op, Warp& warp) {
  warp.block->clock += warp.block->launch->warps;  // time passes for those who wait on a clock
  alignas(64) Bits lanes[32];
  const Launch& launch = *warp.block->launch;
  if (kWhich == Register::kTidX && launch.block[0] == launch.threads) {
    for (int i = 0; i < 32; ++i) lanes[i] = static_cast<Bits>(warp.index * 32 + i);
  } else if (VariesByLane(kWhich)) {
    for (int i = 0; i < 32; ++i) lanes[i] = static_cast<Bits>(ValueOf(kWhich, warp, i));
  } else {
    std::fill_n(lanes, 32, static_cast<Bits>(ValueOf(kWhich, warp, 0)));
  }
  Blend(warp.Out<Bits>(op.r[0]), lanes, warp.exec);
  return &op + 1;
}

struct NamedRegister {
  std::string_view name;
  ExecFn narrow;
  ExecFn wide;
};

template <Register kWhich>
constexpr NamedRegister Named(std::string_view name) {
  return {name, &ReadRegister<kWhich, uint32_t>, &ReadRegister<kWhich, uint64_t>};
}

constexpr NamedRegister kRegisters[] = {
    Named<Register::kTidX>("%tid.x"),
    Named<Register::kTidY>("%tid.y"),
    Named<Register::kTidZ>("%tid.z"),
    Named<Register::kNtidX>("%ntid.x"),
    Named<Register::kNtidY>("%ntid.y"),
    Named<Register::kNtidZ>("%ntid.z"),
    Named<Register::kCtaidX>("%ctaid.x"),
    Named<Register::kCtaidY>("%ctaid.y"),
    Named<Register::kCtaidZ>("%ctaid.z"),
    Named<Register::kNctaidX>("%nctaid.x"),
    Named<Register::kNctaidY>("%nctaid.y"),
    Named<Register::kNctaidZ>("%nctaid.z"),
    Named<Register::kLaneid>("%laneid"),
    Named<Register::kWarpid>("%warpid"),
    Named<Register::kNwarpid>("%nwarpid"),
    Named<Register::kSmid>("%smid"),
    Named<Register::kNsmid>("%nsmid"),
    Named<Register::kGridid>("%gridid"),
    Named<Register::kLanemaskEq>("%lanemask_eq"),
    Named<Register::kLanemaskLt>("%lanemask_lt"),
    Named<Register::kLanemaskLe>("%lanemask_le"),
    Named<Register::kLanemaskGt>("%lanemask_gt"),
    Named<Register::kLanemaskGe>("%lanemask_ge"),
    Named<Register::kClock>("%clock"),
    Named<Register::kClock64>("%clock64"),
    Named<Register::kClockHi>("%clock_hi"),
    Named<Register::kGlobaltimer>("%globaltimer"),
    Named<Register::kDynamicShared>("%dynamic_smem_size"),
    Named<Register::kTotalShared>("%total_smem_size"),
    // Without clusters every block is a cluster of its own.
    Named<Register::kClusterCtaidX>("%cluster_ctaid.x"),
    Named<Register::kClusterCtaidY>("%cluster_ctaid.y"),
    Named<Register::kClusterCtaidZ>("%cluster_ctaid.z"),
    Named<Register::kClusterNctaidX>("%cluster_nctaid.x"),
    Named<Register::kClusterNctaidY>("%cluster_nctaid.y"),
    Named<Register::kClusterNctaidZ>("%cluster_nctaid.z"),
    Named<Register::kClusteridX>("%clusterid.x"),
    Named<Register::kClusteridY>("%clusterid.y"),
    Named<Register::kClusteridZ>("%clusterid.z"),
    Named<Register::kNclusteridX>("%nclusterid.x"),
    Named<Register::kNclusteridY>("%nclusterid.y"),
    Named<Register::kNclusteridZ>("%nclusterid.z"),
    Named<Register::kClusterCtarank>("%cluster_ctarank"),
    Named<Register::kClusterNctarank>("%cluster_nctarank"),
    Named<Register::kIsExplicitCluster>("%is_explicit_cluster"),
    // Where a cooperative launch keeps its workspace; there is none.
    Named<Register::kZero>("%envreg1"),
    Named<Register::kZero>("%envreg2"),
};

}  // namespace

ExecFn MoveFn(RowClass row) {
  if (row == RowClass::kMask) return &MoveMask;
  return row == RowClass::k32 ? &Move<uint32_t> : &Move<uint64_t>;
}

std::optional<Pick> PickSpecialRegister(std::string_view name, Type type) {
  if (type == Type::kPred) return std::nullopt;
  for (const NamedRegister& row : kRegisters) {
    if (row.name == name) return Pick{RowOf(type) == RowClass::k64 ? row.wide : row.narrow, {type}};
  }
  return std::nullopt;
}

std::optional<Pick> PickMovePack(Type whole, int parts) {
  const int bits = BitsOf(whole);
  if (bits == 64 && parts == 2) {
    return Pick{&PackRow<uint64_t, uint32_t, 2, 32>, {whole}, {Type::kB32, Type::kB32}};
  }
  Pick pick{nullptr, {whole}};
  pick.from.assign(parts, bits == 64 || parts == 2 ? Type::kB16 : Type::kB8);
  if (bits == 64 && parts == 4) pick.fn = &PackRow<uint64_t, uint32_t, 4, 16>;
  if (bits == 32 && parts == 2) pick.fn = &PackRow<uint32_t, uint32_t, 2, 16>;
  if (bits == 32 && parts == 4) pick.fn = &PackRow<uint32_t, uint32_t, 4, 8>;
  if (bits == 16 && parts == 2) {
    pick.fn = &PackRow<uint32_t, uint32_t, 2, 8>;
    pick.from.assign(2, Type::kB8);
  }
  if (pick.fn == nullptr) return std::nullopt;
  return pick;
}

std::optional<Pick> PickMoveUnpack(Type whole, int parts) {
  auto pick = PickMovePack(whole, parts);
  if (!pick) return std::nullopt;
  std::swap(pick->to, pick->from);
  const int bits = BitsOf(whole);
  if (bits == 64) {
    pick->fn = parts == 2 ? &Unpack<uint64_t, uint32_t, 2, 32> : &Unpack<uint64_t, uint32_t, 4, 16>;
  } else if (bits == 32) {
    pick->fn = parts == 2 ? &Unpack<uint32_t, uint32_t, 2, 16> : &Unpack<uint32_t, uint32_t, 4, 8>;
  } else {
    pick->fn = &Unpack<uint32_t, uint32_t, 2, 8>;
  }
  return pick;
}

}  // namespace onepass::sim
