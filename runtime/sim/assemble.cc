#include "runtime/sim/assemble.h"

#include <utility>

#include "runtime/sim/control_flow.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/registers.h"

namespace onepass::sim {
namespace {

using Flow = DraftOp::Flow;

class Assembler {
 public:
  Assembler(const Draft& draft, Kernel& kernel)
      : draft_(draft),
        kernel_(kernel),
        flow_(ControlFlowOf(draft)),
        allocation_(Allocate(draft, flow_)),
        block_start_(flow_.blocks.size(), -1) {}

  int Run() {
    PlaceConstants();
    for (size_t i = 0; i < flow_.order.size(); ++i) {
      const int next = i + 1 < flow_.order.size() ? flow_.order[i + 1] : -1;
      EmitBlock(flow_.order[i], next);
    }
    for (const auto& [op, block] : jumps_) {
      kernel_.ops[op].offset = block_start_[block] - op;
    }
    kernel_.register_bytes = allocation_.bytes;
    kernel_.mask_begin = allocation_.mask_begin;
    for (const int32_t reg : allocation_.live_at_start) {
      kernel_.undefined.push_back(allocation_.place[reg]);
    }
    return allocation_.live_registers;
  }

 private:
  void PlaceConstants() {
    int64_t at = 0;
    for (const RowClass row : {RowClass::k64, RowClass::k32, RowClass::kMask}) {
      for (Constant& constant : kernel_.constants) {
        if (constant.row != row) continue;
        constant.offset = static_cast<RowRef>(at);
        at += RowBytes(row);
      }
    }
    kernel_.constant_bytes = (at + 63) / 64 * 64;
  }

  void Push(const Op& op, int32_t origin, const OpUse& use = OpUse()) {
    kernel_.ops.push_back(op);
    kernel_.origin_of.push_back(origin);
    kernel_.uses.push_back(use);
  }
  static OpUse UseOf(const DraftOp& draft) {
    OpUse use;
    for (int i = 0; i < draft.refs; ++i) {
      if (draft.r[i] < 0 || draft.r[i] == DraftOp::kNone) continue;
      ((draft.writes >> i & 1) != 0 ? use.writes : use.reads) |= 1 << i;
    }
    use.long_refs = draft.refs > kMaxRefs;
    use.mask = draft.mask;
    use.address = draft.address;
    use.memory = draft.memory;
    use.shuffle = draft.shuffle;
    use.select = draft.select;
    use.logic = draft.logic;
    return use;
  }
  int Here() const { return static_cast<int>(kernel_.ops.size()); }

  void EmitBlock(int block, int next) {
    const BasicBlock& b = flow_.blocks[block];
    block_start_[block] = Here();
    if (b.predecessors.size() > 1) {
      Op join;
      join.fn = JoinFn();
      Push(join, -1);
    }
    for (int i = b.begin; i < b.end; ++i) EmitOp(draft_.ops[i]);
    if (b.falls_through && b.successors[0] != next) EmitJump(PseudoJumpFn(), b.successors[0], -1);
  }

  void EmitJump(ExecFn fn, int block, int32_t origin) {
    Op jump;
    jump.fn = fn;
    jumps_.push_back({Here(), block});
    Push(jump, origin, {.jump = true});
  }

  int BlockOf(int label) const {
    const int at = draft_.label_at[label];
    // Labels begin blocks, and blocks are sorted by their first operation.
    size_t low = 0, high = flow_.blocks.size();
    while (high - low > 1) {
      const size_t middle = (low + high) / 2;
      (flow_.blocks[middle].begin <= at ? low : high) = middle;
    }
    return static_cast<int>(low);
  }

  RowRef RefOf(int32_t ref) const {
    if (ref == DraftOp::kNone) return 0;
    if (ref < 0) return kernel_.constants[~ref].offset | kConstantRow;
    return allocation_.place[ref];
  }

  void EmitOp(const DraftOp& draft) {
    if (draft.flow == Flow::kJump) return EmitJump(JumpFn(), BlockOf(draft.label), draft.origin);
    if (draft.flow == Flow::kBranch) {
      EmitJump(BranchFn(draft.guard_negated), BlockOf(draft.label), draft.origin);
      kernel_.ops.back().r[0] = RefOf(draft.guard);
      kernel_.uses.back() = {.reads = 1, .branch = true, .jump = true};
      return;
    }
    Op op;
    op.fn = draft.fn;
    op.offset = draft.offset;
    op.flags = draft.flags;
    if (draft.refs > kMaxRefs) {
      op.offset = static_cast<int32_t>(kernel_.long_refs.size());
      for (int i = 0; i < draft.refs; ++i) kernel_.long_refs.push_back(RefOf(draft.r[i]));
    } else {
      for (int i = 0; i < draft.refs; ++i) op.r[i] = RefOf(draft.r[i]);
    }
    if (draft.guard >= 0) {
      op.inner = op.fn;
      op.fn = &Guarded;
      op.guard = RefOf(draft.guard) * 2 + (draft.guard_negated ? 1 : 0);
    }
    Push(op, draft.origin, UseOf(draft));
  }

  const Draft& draft_;
  Kernel& kernel_;
  ControlFlow flow_;
  Allocation allocation_;
  std::vector<int> block_start_;
  std::vector<std::pair<int, int>> jumps_;  // operation, block
};

}  // namespace

int Assemble(Draft draft, Kernel& kernel) {
  kernel.constants = std::move(draft.constants);
  kernel.origins = std::move(draft.origins);
  kernel.shared = std::move(draft.shared);
  kernel.static_shared_bytes = draft.static_shared_bytes;
  kernel.local_bytes = draft.local_bytes;
  return Assembler(draft, kernel).Run();
}

}  // namespace onepass::sim
