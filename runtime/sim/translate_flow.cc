// Instructions that go elsewhere: branches, calls, returns.
#include "runtime/sim/translator.h"

namespace onepass::sim {

bool Translator::Flow(const Statement& statement, Form& form) {
  const std::string_view base = form.base();
  if (base == "bra") {
    form.Take("uni");
    if (!form.empty()) return Unknown(), true;
    Branch(statement);
  } else if (base == "brx") {
    const bool indexed = form.Take("idx");
    form.Take("uni");
    if (!indexed || !form.empty()) return Unknown(), true;
    BranchIndexed(statement);
  } else if (base == "ret" || base == "exit") {
    form.Take("uni");
    if (!form.empty()) return Unknown(), true;
    if (base == "exit") return_labels_.push_back(-1);
    Return();
    if (base == "exit") return_labels_.pop_back();
  } else if (base == "call") {
    form.Take("uni");
    if (!form.empty()) return Unknown(), true;
    Call(statement);
  } else {
    return false;
  }
  return true;
}

void Translator::Branch(const Statement& statement) {
  Symbol label;
  if (statement.operands.size() != 1 || !scopes_.Find(statement.operands[0].name, label) ||
      label.kind != Symbol::Kind::kLabel) {
    return Wrong("the branch's target is no label");
  }
  Emit(Pick{JumpFn()}, {}, 0);
  if (!error_.ok()) return;
  DraftOp& op = draft_.ops.back();
  op.flow = op.guard >= 0 ? DraftOp::Flow::kBranch : DraftOp::Flow::kJump;
  op.label = static_cast<int32_t>(label.value);
}

// A branch through a table becomes one comparison and branch for each of its labels.
void Translator::BranchIndexed(const Statement& statement) {
  Symbol table;
  if (statement.operands.size() != 2 || !statement.guard.empty() ||
      !scopes_.Find(statement.operands[1].name, table) || table.kind != Symbol::Kind::kTargets) {
    return Wrong("the branch has no table of targets");
  }
  const int32_t index = Source(statement.operands[0], Type::kU32);
  uint32_t value = 0;
  for (const Operand& target : (*body_)[table.value].operands) {
    Symbol label;
    if (!scopes_.Find(target.name, label) || label.kind != Symbol::Kind::kLabel) {
      return Wrong("a target that is no label");
    }
    Form equal("setp.eq.u32");
    const int32_t predicate = NewRegister(RowClass::kMask);
    Emit(*PickCompare(equal, {}), {predicate, index, LiteralRow(value++, RowClass::k32)}, 1);
    Emit(Pick{JumpFn()}, {}, 0);
    if (!error_.ok()) return;
    draft_.ops.back().guard = predicate;
    draft_.ops.back().flow = DraftOp::Flow::kBranch;
    draft_.ops.back().label = static_cast<int32_t>(label.value);
  }
  Form trap("trap");  // an index beyond the table
  Emit(*PickControl(trap), {}, 0);
}

// Leaves the function: the kernel's threads exit, an inlined function's go behind the call.
void Translator::Return() {
  const int label = return_labels_.back();
  Emit(Pick{label < 0 ? ExitFn() : JumpFn()}, {}, 0);
  if (!error_.ok()) return;
  DraftOp& op = draft_.ops.back();
  op.label = label;
  op.flow = label < 0       ? DraftOp::Flow::kExit
            : op.guard >= 0 ? DraftOp::Flow::kBranch
                            : DraftOp::Flow::kJump;
}

}  // namespace onepass::sim
