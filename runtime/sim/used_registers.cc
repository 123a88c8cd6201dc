#include "runtime/sim/used_registers.h"

#include <vector>

namespace onepass::sim {
namespace {

// Calls fn(reference) for all that may be a register.
template <class Fn>
void EachReference(DraftOp& op, Fn fn) {
  for (int i = 0; i < op.refs; ++i) {
    if (op.r[i] >= 0 && op.r[i] != DraftOp::kNone) fn(op.r[i]);
  }
  if (op.guard >= 0) fn(op.guard);
  if (op.saved >= 0) fn(op.saved);
}

}  // namespace

void DropUnusedRegisters(Draft& draft) {
  std::vector<bool> used(draft.registers.size());
  for (DraftOp& op : draft.ops) {
    EachReference(op, [&](int32_t reg) { used[reg] = true; });
  }
  std::vector<int32_t> number;  // of a used register; of another one that of the next used one
  std::vector<RowClass> registers;
  for (size_t reg = 0; reg < used.size(); ++reg) {
    number.push_back(static_cast<int32_t>(registers.size()));
    if (used[reg]) registers.push_back(draft.registers[reg]);
  }
  number.push_back(static_cast<int32_t>(registers.size()));
  for (DraftOp& op : draft.ops) {
    EachReference(op, [&](int32_t& reg) { reg = number[reg]; });
  }
  for (SavedCall& call : draft.saves) {
    call.first = number[call.first];
    call.end = number[call.end];
  }
  draft.registers = std::move(registers);
}

}  // namespace onepass::sim
