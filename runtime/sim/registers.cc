#include "runtime/sim/registers.h"

#include <algorithm>
#include <climits>

namespace onepass::sim {
namespace {

// Sets of virtual registers.
class Bits {
 public:
  explicit Bits(size_t size) : words_((size + 63) / 64) {}
  void Set(int i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void Clear(int i) { words_[i / 64] &= ~(uint64_t{1} << (i % 64)); }
  bool Has(int i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  // this = uses | (out & ~kills); whether anything changed.
  bool Transfer(const Bits& uses, const Bits& out, const Bits& kills) {
    bool changed = false;
    for (size_t i = 0; i < words_.size(); ++i) {
      const uint64_t word = uses.words_[i] | (out.words_[i] & ~kills.words_[i]);
      changed |= word != words_[i];
      words_[i] = word;
    }
    return changed;
  }
  void Add(const Bits& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  template <class Fn>
  void Each(Fn fn) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      for (uint64_t word = words_[i]; word != 0; word &= word - 1) {
        fn(static_cast<int>(64 * i + __builtin_ctzll(word)));
      }
    }
  }

 private:
  std::vector<uint64_t> words_;
};

template <class Fn>
void EachRegister(const DraftOp& op, Fn fn) {
  for (int i = 0; i < op.refs; ++i) {
    if (op.r[i] >= 0 && op.r[i] != DraftOp::kNone) fn(op.r[i], (op.writes >> i & 1) != 0);
  }
  if (op.guard >= 0) fn(op.guard, false);
}

struct Lifetime {
  int reg = 0;
  int begin = INT_MAX;
  int end = -1;
};

struct Liveness {
  std::vector<Bits> in;
  std::vector<Bits> out;
};

Liveness LivenessOf(const Draft& draft, const ControlFlow& flow) {
  const Bits none(draft.registers.size());
  const size_t n = flow.blocks.size();
  Liveness live{std::vector<Bits>(n, none), std::vector<Bits>(n, none)};
  std::vector<Bits> uses(n, none);
  std::vector<Bits> kills(n, none);
  for (const int b : flow.order) {
    for (int i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i) {
      const DraftOp& op = draft.ops[i];
      EachRegister(op, [&](int reg, bool write) {
        if (!write && !kills[b].Has(reg)) uses[b].Set(reg);
      });
      // A guarded write leaves the other lanes as they are.
      EachRegister(op, [&](int reg, bool write) {
        if (write && op.guard < 0) kills[b].Set(reg);
        if (write && op.guard >= 0 && !kills[b].Has(reg)) uses[b].Set(reg);
      });
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto b = flow.order.rbegin(); b != flow.order.rend(); ++b) {
      for (const int successor : flow.blocks[*b].successors) live.out[*b].Add(live.in[successor]);
      changed |= live.in[*b].Transfer(uses[*b], live.out[*b], kills[*b]);
    }
  }
  return live;
}

// Positions count operations in layout order; a lifetime is the hull of all that is live.
std::vector<Lifetime> LifetimesOf(const Draft& draft, const ControlFlow& flow,
                                  std::vector<int32_t>& live_at_start) {
  const Liveness live = LivenessOf(draft, flow);
  live.in[flow.order[0]].Each([&](int reg) { live_at_start.push_back(reg); });
  std::vector<Lifetime> lifetimes(draft.registers.size());
  const auto touch = [&](int reg, int at) {
    lifetimes[reg].begin = std::min(lifetimes[reg].begin, at);
    lifetimes[reg].end = std::max(lifetimes[reg].end, at);
  };
  int position = 0;
  for (const int b : flow.order) {
    live.in[b].Each([&](int reg) { touch(reg, position); });
    for (int i = flow.blocks[b].begin; i < flow.blocks[b].end; ++i, position += 2) {
      // Sources end at the even position, destinations begin at the odd one: they may share.
      EachRegister(draft.ops[i], [&](int reg, bool write) { touch(reg, position + write); });
    }
    live.out[b].Each([&](int reg) { touch(reg, position); });
  }
  for (size_t reg = 0; reg < lifetimes.size(); ++reg) lifetimes[reg].reg = static_cast<int>(reg);
  std::erase_if(lifetimes, [](const Lifetime& lifetime) { return lifetime.end < 0; });
  std::sort(lifetimes.begin(), lifetimes.end(), [](const Lifetime& a, const Lifetime& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.reg < b.reg;
  });
  return lifetimes;
}

// Linear scan over the lifetimes of one class: slots by register, and how many there are.
int AssignSlots(const std::vector<Lifetime>& lifetimes, const std::vector<RowClass>& classes,
                RowClass of, std::vector<int>& slots) {
  std::vector<Lifetime> active;
  std::vector<int> free;
  int count = 0;
  for (const Lifetime& lifetime : lifetimes) {
    if (classes[lifetime.reg] != of) continue;
    std::erase_if(active, [&](const Lifetime& other) {
      if (other.end >= lifetime.begin) return false;
      free.push_back(slots[other.reg]);
      return true;
    });
    if (free.empty()) {
      slots[lifetime.reg] = count++;
    } else {
      slots[lifetime.reg] = free.back();
      free.pop_back();
    }
    active.push_back(lifetime);
  }
  return count;
}

}  // namespace

std::vector<std::vector<int>> LiveBefore(const Draft& draft, const ControlFlow& flow,
                                         llvm::ArrayRef<int> before) {
  const Liveness live = LivenessOf(draft, flow);
  std::vector<std::vector<int>> result;
  for (const int op : before) {
    std::vector<int>& registers = result.emplace_back();
    const auto block = std::find_if(flow.blocks.begin(), flow.blocks.end(),
                                    [&](const auto& b) { return b.begin <= op && op < b.end; });
    if (block == flow.blocks.end()) continue;
    Bits now = live.out[block - flow.blocks.begin()];
    for (int i = block->end; i-- > op;) {
      const bool whole = draft.ops[i].guard < 0;
      EachRegister(draft.ops[i], [&](int reg, bool write) {
        if (write && whole) now.Clear(reg);
      });
      EachRegister(draft.ops[i], [&](int reg, bool write) {
        if (!write || !whole) now.Set(reg);
      });
    }
    now.Each([&](int reg) { registers.push_back(reg); });
  }
  return result;
}

Allocation Allocate(const Draft& draft, const ControlFlow& flow) {
  Allocation allocation;
  const std::vector<Lifetime> lifetimes = LifetimesOf(draft, flow, allocation.live_at_start);
  std::vector<int> slots(draft.registers.size(), -1);
  const int wide = AssignSlots(lifetimes, draft.registers, RowClass::k64, slots);
  const int narrow = AssignSlots(lifetimes, draft.registers, RowClass::k32, slots);
  const int masks = AssignSlots(lifetimes, draft.registers, RowClass::kMask, slots);
  allocation.place.assign(draft.registers.size(), -1);
  const int64_t narrow_base = int64_t{256} * wide;
  const int64_t mask_base = narrow_base + int64_t{128} * narrow;
  for (size_t reg = 0; reg < slots.size(); ++reg) {
    if (slots[reg] < 0) continue;
    const RowClass row = draft.registers[reg];
    const int64_t base = row == RowClass::k64 ? 0 : row == RowClass::k32 ? narrow_base : mask_base;
    allocation.place[reg] = static_cast<RowRef>(base + int64_t{RowBytes(row)} * slots[reg]);
  }
  allocation.mask_begin = mask_base;
  allocation.bytes = (mask_base + 4 * masks + 63) / 64 * 64;
  allocation.live_registers = 2 * wide + narrow;
  return allocation;
}

}  // namespace onepass::sim
