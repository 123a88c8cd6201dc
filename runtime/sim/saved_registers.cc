#include "runtime/sim/saved_registers.h"

#include <algorithm>
#include <vector>

#include "runtime/sim/exec.h"
#include "runtime/sim/registers.h"

namespace onepass::sim {
namespace {

using Kept = std::vector<std::vector<int>>;  // registers by call, sorted

bool Keeps(const Kept& kept, const DraftOp& op) {
  return std::binary_search(kept[op.saved_call].begin(), kept[op.saved_call].end(), op.saved);
}

// The draft with only the saves that are kept. Restores count as writes in any case: behind a call
// nothing of before is left in a register.
Draft Trial(const Draft& draft, const Kept& kept) {
  Draft trial = draft;
  for (DraftOp& op : trial.ops) {
    if (op.saved >= 0 && !op.restores && !Keeps(kept, op)) op.refs = 0;
  }
  return trial;
}

// Saving a register before one call may make it live behind another: until nothing is added.
Kept LiveBehindCalls(const Draft& draft) {
  std::vector<int> behind;
  for (const SavedCall& call : draft.saves) behind.push_back(call.behind);
  const ControlFlow flow = ControlFlowOf(draft);
  Kept kept(draft.saves.size());
  for (bool grew = true; grew;) {
    grew = false;
    const Kept live = LiveBefore(Trial(draft, kept), flow, behind);
    for (size_t i = 0; i < live.size(); ++i) {
      std::vector<int> inside;
      for (const int reg : live[i]) {
        if (reg >= draft.saves[i].first && reg < draft.saves[i].end) inside.push_back(reg);
      }
      grew |= inside.size() > kept[i].size();
      kept[i] = std::move(inside);
    }
  }
  return kept;
}

}  // namespace

void KeepLiveRegisters(Draft& draft) {
  if (draft.saves.empty()) return;
  const Kept kept = LiveBehindCalls(draft);
  for (DraftOp& op : draft.ops) {
    if (op.saved < 0) continue;
    if (!Keeps(kept, op)) {
      op.fn = JoinFn();
      op.refs = 0;
      op.writes = 0;
      continue;
    }
    const auto& registers = kept[op.saved_call];
    const auto place = std::lower_bound(registers.begin(), registers.end(), op.saved);
    op.offset = static_cast<int32_t>(8 * (place - registers.begin()));
  }
  for (size_t i = 0; i < draft.saves.size(); ++i) {
    const uint64_t bytes = (8 * kept[i].size() + 15) / 16 * 16;
    for (const size_t row : draft.saves[i].size_rows) draft.constants[row].bits = bytes;
  }
}

}  // namespace onepass::sim
