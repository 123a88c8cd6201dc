#include "runtime/sim/register_check.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_format.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/decided.h"

namespace onepass::sim {
namespace {

template <class Fn>
void EachBit(uint32_t bits, Fn fn) {
  for (; bits != 0; bits &= bits - 1) fn(std::countr_zero(bits));
}

}  // namespace

void RegisterCheck::Start(const Kernel& kernel) {
  mask_begin_ = kernel.mask_begin;
  const int64_t registers =
      kernel.mask_begin / 128 + (kernel.register_bytes - kernel.mask_begin) / 4 + 1;
  registers_.assign(static_cast<size_t>(registers), Register());
  for (const RowRef ref : kernel.undefined) At(ref).undefined = kAllLanes;
  following_ = !kernel.undefined.empty();
}

void RegisterCheck::SetUndefined(RowRef ref, uint32_t lanes, uint32_t origin) {
  following_ = true;
  At(ref).undefined |= lanes;
  At(ref).origin = origin;
}

uint32_t RegisterCheck::LanesOf(const Op& op, const Warp& warp) const {
  if (op.guard < 0) return warp.lanes;
  const uint32_t predicate = warp.Mask(op.guard >> 1);
  return warp.lanes & ((op.guard & 1) != 0 ? ~predicate : predicate);
}

void RegisterCheck::Before(Checker& checker, const Op& op, Warp& warp) {
  const OpUse& use = warp.block->launch->kernel->uses[sim::IndexOf(warp, op)];
  const uint32_t lanes = LanesOf(op, warp);
  if (following_ && op.guard >= 0) {
    const Register& guard = At(op.guard >> 1);
    checker.ReportUse(warp, op, guard.undefined & warp.lanes, guard.origin, "a guard depends on");
  }
  if (lanes == 0) return;
  if (use.mask >= 0) CheckMask(checker, op, use, warp, lanes);
  if (use.shuffle && (following_ || lanes != kAllLanes)) return Shuffle(op, use, warp, lanes);
  if (!following_) return;
  CheckUses(checker, op, use, warp, lanes);
  Spread(op, use, warp, lanes);
}

void RegisterCheck::CheckMask(Checker& checker, const Op& op, const OpUse& use, Warp& warp,
                              uint32_t lanes) {
  const uint32_t* masks = warp.In<uint32_t>(op.r[use.mask]);
  EachBit(lanes, [&](int lane) {
    if ((masks[lane] >> lane & 1) != 0) return;
    checker.Report(
        Finding::Kind::kLaneMask, warp, op, lane,
        absl::StrFormat("lane %d is not in the mask 0x%08x that it waits with", lane, masks[lane]));
  });
}

void RegisterCheck::CheckUses(Checker& checker, const Op& op, const OpUse& use, Warp& warp,
                              uint32_t lanes) {
  using Memory = OpUse::Memory;
  const auto check = [&](RowRef ref, std::string_view what) {
    checker.ReportUse(warp, op, At(ref).undefined & lanes, At(ref).origin, what);
  };
  if (use.branch) check(op.r[0], "a branch depends on");
  if (use.memory == Memory::kNone) return;
  EachBit(use.reads, [&](int i) {
    if (i == use.address) {
      check(op.r[i], "an address depends on");
    } else if (use.memory == Memory::kAtomic || checker.StoresToGlobal(op, warp, use.address)) {
      check(op.r[i], "what is stored depends on");
    }
  });
}

// What an operation makes of its sources; loads are checked in memory.
RegisterCheck::Register RegisterCheck::Combined(const Op& op, const OpUse& use, const Warp& warp,
                                                uint32_t lanes) const {
  Register result;
  if (use.memory != OpUse::Memory::kNone) return result;
  const uint32_t chosen = use.select ? *warp.In<uint32_t>(op.r[3]) : 0;
  uint32_t by_ref[kMaxRefs] = {};
  EachBit(use.reads, [&](int i) {
    const Register& source = registers_[IndexOf(op.r[i])];
    uint32_t undefined = source.undefined & lanes;
    if (use.select && i == 1) undefined &= chosen;
    if (use.select && i == 2) undefined &= ~chosen;
    // Of several reads the first in the code is named.
    const bool first = result.origin == 0 || source.origin < result.origin;
    if (undefined != 0 && source.origin != 0 && first) result.origin = source.origin;
    result.undefined |= undefined;
    by_ref[i] = undefined;
  });
  if (result.undefined != 0 && use.logic.kind != Logic::Kind::kNone) {
    result.undefined &= ~DecidedLanes(op, use.logic, warp, by_ref);
  }
  // A vote or sum over lanes is as undefined as any of them.
  if (use.mask >= 0 && result.undefined != 0) result.undefined = lanes;
  return result;
}

void RegisterCheck::Write(RowRef ref, uint32_t lanes, const Register& value) {
  Register& to = At(ref);
  to.undefined = (to.undefined & ~lanes) | (value.undefined & lanes);
  if (value.undefined != 0) to.origin = value.origin;
}

void RegisterCheck::Spread(const Op& op, const OpUse& use, const Warp& warp, uint32_t lanes) {
  if (use.long_refs) {  // a product of matrices: who depends on whom is not followed
    const RowRef* refs = &warp.block->launch->kernel->long_refs[op.offset];
    return EachBit(use.writes, [&](int i) { Write(refs[i], lanes, Register()); });
  }
  const Register value = Combined(op, use, warp, lanes);
  EachBit(use.writes, [&](int i) { Write(op.r[i], lanes, value); });
}

// Runs the shuffle on what is undefined: lanes that take no part give nothing.
void RegisterCheck::Shuffle(const Op& op, const OpUse& use, Warp& warp, uint32_t lanes) {
  const uint32_t* masks = warp.In<uint32_t>(op.r[use.mask]);
  uint32_t needed = 0;
  EachBit(lanes, [&](int lane) { needed |= masks[lane]; });
  if (!HasLanes(warp, needed)) return;  // it waits and is seen again
  const RowRef scratch = static_cast<RowRef>(warp.block->launch->kernel->register_bytes);
  Register value;
  if (op.r[2] >= 0) value = At(op.r[2]);
  uint32_t* from = warp.Out<uint32_t>(scratch);
  for (int i = 0; i < 32; ++i) from[i] = (~lanes | value.undefined) >> i & 1;
  Op shadow = op;
  shadow.r[0] = scratch + 128;
  shadow.r[1] = scratch + 256;
  shadow.r[2] = scratch;
  const uint32_t before = warp.exec;
  warp.exec = lanes;
  (op.inner != nullptr ? op.inner : op.fn)(shadow, warp);
  warp.exec = before;
  value.undefined = 0;
  for (int i = 0; i < 32; ++i) {
    value.undefined |= (warp.In<uint32_t>(scratch + 128)[i] & 1) << i & lanes;
  }
  following_ |= value.undefined != 0;
  Write(op.r[0], lanes, value);
  if ((use.writes & 2) != 0) Write(op.r[1], lanes, Register());
}

}  // namespace onepass::sim
