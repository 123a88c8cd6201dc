// The control-flow graph of a draft and the order in which its blocks are laid out.
#pragma once

#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "runtime/sim/draft.h"

namespace onepass::sim {

struct BasicBlock {
  int begin = 0;  // operations of the draft
  int end = 0;
  llvm::SmallVector<int, 2> successors;  // the one that is fallen into first
  llvm::SmallVector<int, 4> predecessors;
  bool falls_through = false;  // successors[0] is reached without a jump
};

struct ControlFlow {
  std::vector<BasicBlock> blocks;
  // Reachable blocks in a topological order of the graph without its back edges, in which the
  // blocks of a loop follow each other. Diverged paths run in this order (the lowest first), and so
  // meet again where the graph joins.
  std::vector<int> order;
};

ControlFlow ControlFlowOf(const Draft& draft);

}  // namespace onepass::sim
