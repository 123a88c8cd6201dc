// What the lanes of a warp or the warps of a block do together.
#include "runtime/sim/translator.h"

namespace onepass::sim {

void Translator::Barrier(const Statement& statement, Form& form) {
  std::vector<Operand> operands = statement.operands;
  const bool reduces = form.Has("red");
  const bool negated = reduces && !operands.empty() && operands.back().negated;
  const auto pick = PickBarrier(form, static_cast<int>(operands.size()), negated);
  if (!pick || !form.empty()) return Unknown();
  if (operands.size() < (reduces ? 3u : 1u) || operands.size() > (reduces ? 4u : 2u)) {
    return Wrong("a barrier with these operands");
  }
  int32_t result = DraftOp::kNone;
  int32_t predicate = DraftOp::kNone;
  if (reduces) {
    result = Destination(operands.front(), pick->to[0]);
    predicate = Source(operands.back(), Type::kPred);
    operands.erase(operands.begin());
    operands.pop_back();
  }
  const int32_t barrier = Source(operands[0], Type::kU32);
  const int32_t threads = operands.size() > 1 ? Source(operands[1], Type::kU32) : DraftOp::kNone;
  Emit(*pick, {result, barrier, threads, predicate}, reduces ? 1 : 0);
}

// The lanes of the path: the mask of forms without .sync.
int32_t Translator::ActiveLanes() {
  Form active("activemask.b32");
  const int32_t mask = NewRegister(RowClass::k32);
  Emit(*PickCollective(active, false, false), {mask}, 1);
  return mask;
}

void Translator::Shuffle(const Statement& statement, Form& form) {
  const auto& operands = statement.operands;
  const bool sync = form.Has("sync");
  const bool predicate = !operands.empty() && !operands[0].second.empty();
  const auto pick = PickShuffle(form, predicate);
  if (!pick || !form.empty()) return Unknown();
  if (operands.size() != (sync ? 5u : 4u)) return Wrong("a wrong number of operands");
  int32_t second = DraftOp::kNone;
  if (predicate) {
    Operand name;
    name.name = operands[0].second;
    if (name.name == "_") name.kind = Operand::Kind::kSink;
    second = Destination(name, Type::kPred);
  }
  Emit(*pick,
       {Destination(operands[0], Type::kB32), second, Source(operands[1], Type::kB32),
        Source(operands[2], Type::kB32), Source(operands[3], Type::kB32),
        sync ? Source(operands[4], Type::kB32) : ActiveLanes()},
       predicate ? 3 : 1);
  if (!error_.ok()) return;
  draft_.ops.back().mask = 5;
  draft_.ops.back().shuffle = true;
}

void Translator::Collective(const Statement& statement, Form& form) {
  const auto& operands = statement.operands;
  const bool second = !operands.empty() && !operands[0].second.empty();
  const bool negated = operands.size() > 1 && operands[1].negated;
  const bool masked = form.base() != "vote" || form.Has("sync");
  const auto pick = PickCollective(form, negated, second);
  if (!pick || !form.empty()) return Unknown();
  const size_t written = pick->to.empty() ? 0 : 1;
  const size_t read = pick->from.size() - (masked ? 0 : 1);
  if (operands.size() != written + read) return Wrong("a wrong number of operands");
  llvm::SmallVector<int32_t, 8> refs;
  for (size_t i = 0; i < pick->to.size(); ++i) {
    Operand to = operands[0];
    if (i == 1) {
      to.name = to.second;
      to.kind = second && to.name != "_" ? Operand::Kind::kName : Operand::Kind::kSink;
    }
    refs.push_back(Destination(to, pick->to[i]));
  }
  for (size_t i = 0; i < read; ++i) {
    refs.push_back(Source(operands[written + i], pick->from[i]));
  }
  if (!masked) refs.push_back(ActiveLanes());
  Emit(*pick, refs, (1 << pick->to.size()) - 1);
  if (error_.ok() && !pick->from.empty()) {
    draft_.ops.back().mask = static_cast<int8_t>(refs.size() - 1);
  }
}

}  // namespace onepass::sim
