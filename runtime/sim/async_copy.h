// What the asynchronous operations of exec_copy.cc, exec_bulk.cc and exec_async.cc have in common.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/sim/addresses.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/exec.h"

namespace onepass::sim {

inline ThreadCopies& CopiesOf(Warp& warp) {
  Block& block = *warp.block;
  if (block.copies.empty()) block.copies.resize(block.warps.size());
  return block.copies[warp.index];
}

// Of a launch that is checked: what the instruction's copies are called.
inline CopyTag TagFor(Warp& warp) {
  Checker* checker = warp.block->launch->checker;
  return checker == nullptr ? CopyTag() : checker->TagFor(warp);
}
inline void CheckCopy(const Op& op, Warp& warp, int lane, const Checker::Copy& copy) {
  Checker* checker = warp.block->launch->checker;
  if (checker != nullptr) checker->StartCopy(op, warp, lane, copy);
}
// The copies are waited for.
inline void Waited(Warp& warp, const std::vector<AsyncCopy>& made, bool reads_only) {
  warp.block->progress += static_cast<int64_t>(made.size());
  Checker* checker = warp.block->launch->checker;
  if (checker == nullptr) return;
  for (const AsyncCopy& copy : made) checker->Waited(warp, copy.lane, copy.tag, reads_only);
}

// A policy is the next source.
inline void AddHint(Pick& pick) {
  pick.flags |= static_cast<uint32_t>(pick.from.size()) << kPolicyShift;
  pick.from.push_back(Type::kB64);
}
inline void TakeHint(Form& form, Pick& pick) {
  if (form.Take("L2::cache_hint")) AddHint(pick);
}

// Of exec_bulk.cc: what follows "cp.async.bulk" and "cp.reduce".
std::optional<AsyncPick> PickBulkCopy(Form& form);
std::optional<AsyncPick> PickBulkReduction(Form& form);

}  // namespace onepass::sim
