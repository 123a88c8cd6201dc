#include "runtime/sim/meet.h"

#include <algorithm>
#include <cstring>

#include "runtime/sim/checker.h"
#include "runtime/sim/lanes.h"

namespace onepass::sim {
namespace {

constexpr int kRefs = 6;  // a shuffle has the most
constexpr int kRowBytes = 256;

struct Party {
  const Op* op;
  uint32_t lanes;
};

const OpUse& UseOf(const Op& op, const Warp& warp) {
  return warp.block->launch->kernel->uses[IndexOf(warp, op)];
}

uint32_t MaskAt(const Op& op, const Warp& warp, uint32_t lanes) {
  const uint32_t* masks = warp.In<uint32_t>(op.r[UseOf(op, warp).mask]);
  uint32_t all = 0;
  for (; lanes != 0; lanes &= lanes - 1) all |= masks[std::countr_zero(lanes)];
  return all;
}

bool Meets(const Op& op, const Path& path, const Warp& warp, uint32_t needed) {
  const uint32_t different = (path.at->flags ^ op.flags) & ~MeetFlags::kNegated;
  return path.state == Path::State::kAtSync && path.at->fn == op.fn && different == 0 &&
         MaskAt(*path.at, warp, path.lanes) == needed;
}

bool IsPredicate(const Kernel& kernel, RowRef ref) {
  if (ref >= 0) return ref >= kernel.mask_begin;
  const RowRef offset = ref & ~kConstantRow;
  return std::any_of(kernel.constants.begin(), kernel.constants.end(), [&](const Constant& c) {
    return c.offset == offset && c.row == RowClass::kMask;
  });
}

// Rows for the operation as if all lanes stood at one place.
class Table {
 public:
  Table(const Op& op, const Warp& warp, uint32_t lanes)
      : op_(op), kernel_(*warp.block->launch->kernel) {
    op_.flags &= ~MeetFlags::kNegated;
    for (int i = 0; i < kRefs; ++i) op_.r[i] = i * kRowBytes;
    warp_.registers = rows_;
    warp_.constants = warp.constants;
    warp_.block = warp.block;
    warp_.exec = warp_.lanes = warp_.live = lanes;
  }

  void Take(const Party& party, const Warp& warp) {
    for (int i = 0; i < kRefs; ++i) {
      const RowRef ref = party.op->r[i];
      if (IsPredicate(kernel_, ref)) {
        const bool negated = i == 1 && (party.op->flags & MeetFlags::kNegated) != 0;
        const uint32_t mask = *warp.In<uint32_t>(ref) ^ (negated ? ~0u : 0);
        warp_.Mask(op_.r[i]) |= mask & party.lanes;
      } else if (i == 1 + (UseOf(*party.op, warp).writes >> 1 & 1) &&
                 (party.op->flags & MeetFlags::kWide) != 0) {
        Blend(warp_.Out<uint64_t>(op_.r[i]), warp.In<uint64_t>(ref), party.lanes);
      } else {
        Blend(warp_.Out<uint32_t>(op_.r[i]), warp.In<uint32_t>(ref), party.lanes);
      }
    }
  }

  void Run() { op_.fn(op_, warp_); }

  void Give(const Party& party, Warp& warp) {
    for (int i = 0; i < kRefs; ++i) {
      if ((UseOf(*party.op, warp).writes >> i & 1) == 0) continue;
      const RowRef ref = party.op->r[i];
      if (IsPredicate(kernel_, ref)) {
        uint32_t& mask = warp.Mask(ref);
        mask = (mask & ~party.lanes) | (warp_.Mask(op_.r[i]) & party.lanes);
      } else {
        Blend(warp.Out<uint32_t>(ref), warp_.In<uint32_t>(op_.r[i]), party.lanes);
      }
      if (BlockChecks* checks = warp.block->checks.get(); checks != nullptr) {
        checks->registers[warp.index].SetDefined(ref, party.lanes);
      }
    }
  }

 private:
  Op op_;
  const Kernel& kernel_;
  Warp warp_;
  alignas(64) uint8_t rows_[kRefs * kRowBytes] = {};
};

}  // namespace

const Op* Meet(const Op& op, Warp& warp, uint32_t needed) {
  llvm::SmallVector<Party, 4> parties = {{&op, warp.lanes}};
  uint32_t present = warp.lanes;
  // A guard holds back lanes of its own path: it waits for that path to be complete.
  for (const Path& path : warp.others) {
    if (warp.exec != warp.lanes || op.guard >= 0 || !Meets(op, path, warp, needed)) continue;
    parties.push_back({path.at, path.lanes});
    present |= path.lanes;
  }
  if ((needed & warp.live & ~present) != 0) {
    ++warp.unissued;
    return Reschedule(warp, &op, Path::State::kAtSync);
  }
  Table table(op, warp, present);
  for (const Party& party : parties) table.Take(party, warp);
  table.Run();
  for (const Party& party : parties) table.Give(party, warp);
  for (Path& path : warp.others) {  // what they hold may have replaced their masks
    if ((path.lanes & present) != 0) path = {path.at + 1, path.lanes, Path::State::kReady};
  }
  return Reschedule(warp, &op + 1);
}

}  // namespace onepass::sim
