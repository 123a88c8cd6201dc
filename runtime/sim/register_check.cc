#include "runtime/sim/register_check.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_format.h"
#include "runtime/sim/checker.h"

namespace onepass::sim {

void RegisterCheck::Start(const Kernel& kernel) {
  mask_begin_ = kernel.mask_begin;
  const int64_t registers =
      kernel.mask_begin / 128 + (kernel.register_bytes - kernel.mask_begin) / 4 + 1;
  undefined_.assign(static_cast<size_t>(registers), 0);
  for (const RowRef ref : kernel.undefined) Undefined(ref) = kAllLanes;
  following_ = !kernel.undefined.empty();
}

uint32_t RegisterCheck::LanesOf(const Op& op, const Warp& warp) const {
  if (op.guard < 0) return warp.lanes;
  const uint32_t predicate = warp.Mask(op.guard >> 1);
  return warp.lanes & ((op.guard & 1) != 0 ? ~predicate : predicate);
}

void RegisterCheck::Before(Checker& checker, const Op& op, Warp& warp) {
  const Kernel& kernel = *warp.block->launch->kernel;
  const OpUse& use = kernel.uses[&op - kernel.ops.data()];
  const uint32_t lanes = LanesOf(op, warp);
  if (following_ && op.guard >= 0 && (Undefined(op.guard >> 1) & warp.lanes) != 0) {
    const int lane = std::countr_zero(Undefined(op.guard >> 1) & warp.lanes);
    checker.Report(Finding::Kind::kUninitialisedRead, warp, op, lane,
                   "a guard depends on an uninitialised register");
  }
  if (lanes == 0) return;
  if (use.mask >= 0) CheckMask(checker, op, use, warp, lanes);
  if (use.shuffle && (following_ || lanes != kAllLanes)) return Shuffle(op, warp, lanes);
  if (!following_) return;
  CheckUses(checker, op, use, warp, lanes);
  Spread(op, use, warp, lanes);
}

void RegisterCheck::CheckMask(Checker& checker, const Op& op, const OpUse& use, Warp& warp,
                              uint32_t lanes) {
  const uint32_t* masks = warp.In<uint32_t>(op.r[use.mask]);
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if ((masks[lane] >> lane & 1) != 0) continue;
    checker.Report(
        Finding::Kind::kLaneMask, warp, op, lane,
        absl::StrFormat("lane %d is not in the mask 0x%08x that it waits with", lane, masks[lane]));
  }
}

void RegisterCheck::CheckUses(Checker& checker, const Op& op, const OpUse& use, Warp& warp,
                              uint32_t lanes) {
  using Memory = OpUse::Memory;
  const auto report = [&](RowRef ref, const char* what) {
    const uint32_t undefined = Undefined(ref) & lanes;
    if (undefined == 0) return;
    checker.Report(Finding::Kind::kUninitialisedRead, warp, op, std::countr_zero(undefined), what);
  };
  if (use.branch) report(op.r[0], "a branch depends on an uninitialised register");
  if (use.memory == Memory::kNone) return;
  for (uint32_t left = use.reads; left != 0; left &= left - 1) {
    const int i = std::countr_zero(left);
    if (i == use.address) {
      report(op.r[i], "an address depends on an uninitialised register");
    } else if (use.memory == Memory::kAtomic || checker.StoresToGlobal(op, warp, use.address)) {
      report(op.r[i], "an uninitialised register is stored");
    }
  }
}

// Results are undefined in the lanes in which a source is; loads are checked in memory.
void RegisterCheck::Spread(const Op& op, const OpUse& use, const Warp& warp, uint32_t lanes) {
  uint32_t undefined = 0;
  if (use.select) {
    const auto of = [&](int i) { return (use.reads >> i & 1) != 0 ? Undefined(op.r[i]) : 0; };
    const uint32_t chosen = *warp.In<uint32_t>(op.r[3]);
    undefined = (of(1) & chosen) | (of(2) & ~chosen) | of(3);
  } else if (use.memory == OpUse::Memory::kNone && use.mask < 0) {
    for (uint32_t left = use.reads; left != 0; left &= left - 1) {
      undefined |= Undefined(op.r[std::countr_zero(left)]);
    }
  }
  for (uint32_t left = use.writes; left != 0; left &= left - 1) {
    uint32_t& to = Undefined(op.r[std::countr_zero(left)]);
    to = (to & ~lanes) | (undefined & lanes);
  }
}

// Runs the shuffle on what is undefined: lanes that take no part give nothing.
void RegisterCheck::Shuffle(const Op& op, Warp& warp, uint32_t lanes) {
  const uint32_t* masks = warp.In<uint32_t>(op.r[5]);
  uint32_t needed = 0;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    needed |= masks[op.r[5] < 0 ? 0 : std::countr_zero(left)];
  }
  if (!HasLanes(warp, needed)) return;  // it waits and is seen again
  const RowRef scratch = static_cast<RowRef>(warp.block->launch->kernel->register_bytes);
  const uint32_t missing = ~lanes | (op.r[2] < 0 ? 0 : Undefined(op.r[2]));
  uint32_t* from = warp.Out<uint32_t>(scratch);
  for (int i = 0; i < 32; ++i) from[i] = missing >> i & 1;
  Op shadow = op;
  shadow.r[0] = scratch + 128;
  shadow.r[1] = scratch + 256;
  shadow.r[2] = scratch;
  const uint32_t before = warp.exec;
  warp.exec = lanes;
  (op.inner != nullptr ? op.inner : op.fn)(shadow, warp);
  warp.exec = before;
  uint32_t undefined = 0;
  for (int i = 0; i < 32; ++i) undefined |= (warp.In<uint32_t>(scratch + 128)[i] & 1) << i;
  following_ |= (undefined & lanes) != 0;
  uint32_t& to = Undefined(op.r[0]);
  to = (to & ~lanes) | (undefined & lanes);
  const OpUse& use = warp.block->launch->kernel->uses[&op - warp.block->launch->kernel->ops.data()];
  if ((use.writes & 2) != 0) Undefined(op.r[1]) &= ~lanes;
}

}  // namespace onepass::sim
