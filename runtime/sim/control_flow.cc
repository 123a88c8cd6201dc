#include "runtime/sim/control_flow.h"

#include <algorithm>
#include <utility>

namespace onepass::sim {
namespace {

using Flow = DraftOp::Flow;

bool FallsThrough(const DraftOp& op) {
  return op.flow == Flow::kNext || op.flow == Flow::kBranch ||
         (op.flow == Flow::kExit && op.guard >= 0);
}

// Where blocks begin, as a flag by operation.
std::vector<bool> Leaders(const Draft& draft) {
  std::vector<bool> leader(draft.ops.size() + 1, false);
  leader[0] = true;
  for (size_t i = 0; i < draft.ops.size(); ++i) {
    const DraftOp& op = draft.ops[i];
    if (op.flow != Flow::kNext) leader[i + 1] = true;
    if (op.label >= 0) leader[draft.label_at[op.label]] = true;
  }
  return leader;
}

std::vector<BasicBlock> Blocks(const Draft& draft) {
  const std::vector<bool> leader = Leaders(draft);
  std::vector<BasicBlock> blocks;
  std::vector<int> block_at(draft.ops.size() + 1, -1);
  for (size_t i = 0; i < draft.ops.size(); ++i) {
    if (leader[i]) {
      block_at[i] = static_cast<int>(blocks.size());
      blocks.emplace_back().begin = static_cast<int>(i);
    }
    blocks.back().end = static_cast<int>(i) + 1;
  }
  for (size_t b = 0; b < blocks.size(); ++b) {
    BasicBlock& block = blocks[b];
    const DraftOp& last = draft.ops[block.end - 1];
    block.falls_through = FallsThrough(last) && b + 1 < blocks.size();
    if (block.falls_through) block.successors.push_back(static_cast<int>(b) + 1);
    if (last.label >= 0) {
      const int target = block_at[draft.label_at[last.label]];
      if (block.successors.empty() || block.successors[0] != target) {
        block.successors.push_back(target);
      }
    }
    for (const int successor : block.successors) {
      blocks[successor].predecessors.push_back(static_cast<int>(b));
    }
  }
  return blocks;
}

// Depth-first search without recursion: calls `enter` and `leave`, visits successors in the order
// of `edges`, and reports edges to blocks that are still open.
template <class Edges, class Back, class Leave>
void Search(const std::vector<BasicBlock>& blocks, Edges edges, Back back, Leave leave) {
  enum : char { kNew, kOpen, kDone };
  std::vector<char> state(blocks.size(), kNew);
  std::vector<std::pair<int, size_t>> stack = {{0, 0}};
  state[0] = kOpen;
  while (!stack.empty()) {
    auto& [block, next] = stack.back();
    const auto& successors = edges(block);
    if (next == successors.size()) {
      state[block] = kDone;
      leave(block);
      stack.pop_back();
      continue;
    }
    const int successor = successors[next++];
    if (state[successor] == kOpen) back(block, successor);
    if (state[successor] != kNew) continue;
    state[successor] = kOpen;
    stack.push_back({successor, 0});
  }
}

// For each block, the headers of the loops that hold it: blocks that reach a back edge to the
// header without passing it.
std::vector<std::vector<int>> LoopsOf(const std::vector<BasicBlock>& blocks) {
  std::vector<std::pair<int, int>> back_edges;
  const auto edges = [&](int b) -> const auto& { return blocks[b].successors; };
  Search(
      blocks, edges,
      [&](int from, int to) {
        back_edges.push_back({from, to});
      },
      [](int) {});
  constexpr size_t kMostLoops = 64;  // around one block; the order suffers where there are more
  std::vector<std::vector<int>> loops(blocks.size());
  for (const auto& [latch, header] : back_edges) {
    std::vector<int> work = {latch, header};
    while (!work.empty()) {
      const int block = work.back();
      work.pop_back();
      std::vector<int>& headers = loops[block];
      if (headers.size() >= kMostLoops) continue;
      if (std::find(headers.begin(), headers.end(), header) != headers.end()) continue;
      headers.push_back(header);
      if (block == header) continue;
      work.insert(work.end(), blocks[block].predecessors.begin(), blocks[block].predecessors.end());
    }
  }
  return loops;
}

int LoopsLeft(const std::vector<int>& from, const std::vector<int>& to) {
  int left = 0;
  for (const int header : from) left += std::find(to.begin(), to.end(), header) == to.end();
  return left;
}

}  // namespace

ControlFlow ControlFlowOf(const Draft& draft) {
  ControlFlow flow;
  flow.blocks = Blocks(draft);
  const auto loops = LoopsOf(flow.blocks);
  // Reverse postorder; edges that leave more loops are visited first, and so come behind the loop.
  // Among equals the jump is visited first, so that the code that is fallen into follows at once.
  std::vector<llvm::SmallVector<int, 2>> edges(flow.blocks.size());
  for (size_t b = 0; b < flow.blocks.size(); ++b) {
    const auto& successors = flow.blocks[b].successors;
    edges[b].assign(successors.rbegin(), successors.rend());
    std::stable_sort(edges[b].begin(), edges[b].end(), [&](int x, int y) {
      return LoopsLeft(loops[b], loops[x]) > LoopsLeft(loops[b], loops[y]);
    });
  }
  Search(
      flow.blocks, [&](int b) -> const auto& { return edges[b]; }, [](int, int) {},
      [&](int b) { flow.order.push_back(b); });
  std::reverse(flow.order.begin(), flow.order.end());
  return flow;
}

}  // namespace onepass::sim
