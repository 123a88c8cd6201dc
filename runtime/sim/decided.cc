#include "runtime/sim/decided.h"

namespace onepass::sim {
namespace {

// The value that decides the result of `and` or `or` alone.
uint64_t DecisiveValue(const Logic& logic) {
  if (logic.kind == Logic::Kind::kAnd) return 0;
  return ~uint64_t{0} >> (64 - logic.bits);
}

// The lanes in which r[ref] is decisive, whoever else may be undefined.
uint32_t DecisiveLanes(const Logic& logic, const Warp& warp, RowRef ref) {
  if (logic.bits == 1) {
    const uint32_t mask = *warp.In<uint32_t>(ref);
    return (logic.kind == Logic::Kind::kAnd) != logic.negated ? ~mask : mask;
  }
  const uint64_t ones = ~uint64_t{0} >> (64 - logic.bits);
  const uint64_t wanted = DecisiveValue(logic);
  uint32_t lanes = 0;
  for (int i = 0; i < 32; ++i) {
    const uint64_t value = logic.bits == 64 ? warp.In<uint64_t>(ref)[i] : warp.In<uint32_t>(ref)[i];
    lanes |= static_cast<uint32_t>((value & ones) == wanted) << i;
  }
  return lanes;
}

// The bits of lop3's result that are the same whatever the sources of `unknown` hold.
bool TableDecides(const uint32_t (&values)[3], uint32_t unknown, uint32_t table) {
  for (int bit = 0; bit < 32; ++bit) {
    uint32_t known = 0;
    for (int s = 0; s < 3; ++s) known |= (values[s] >> bit & 1) << (2 - s);
    uint32_t results = 0;
    for (uint32_t row = 0; row < 8; ++row) {
      if (((row ^ known) & ~unknown) == 0) results |= 1u << (table >> row & 1);
    }
    if (results == 3) return false;
  }
  return true;
}

uint32_t DecidedByTable(const Op& op, const Warp& warp, const uint32_t (&undefined)[kMaxRefs]) {
  uint32_t decided = 0;
  for (int i = 0; i < 32; ++i) {
    uint32_t values[3], unknown = 0;
    for (int s = 0; s < 3; ++s) {
      values[s] = warp.In<uint32_t>(op.r[1 + s])[i];
      unknown |= (undefined[1 + s] >> i & 1) << (2 - s);
    }
    const uint32_t table = warp.In<uint32_t>(op.r[4])[i];
    decided |= static_cast<uint32_t>(TableDecides(values, unknown, table)) << i;
  }
  return decided & ~undefined[4];
}

}  // namespace

uint32_t DecidedLanes(const Op& op, const Logic& logic, const Warp& warp,
                      const uint32_t (&undefined)[kMaxRefs]) {
  if (logic.kind == Logic::Kind::kTable) return DecidedByTable(op, warp, undefined);
  uint32_t decided = 0;
  for (int i = 0; i < kMaxRefs; ++i) {
    if ((logic.sources >> i & 1) == 0) continue;
    decided |= DecisiveLanes(logic, warp, op.r[i]) & ~undefined[i];
  }
  return decided;
}

}  // namespace onepass::sim
