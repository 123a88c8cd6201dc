// Moves, and addresses from one space to another.
#include "runtime/sim/translator.h"

namespace onepass::sim {

// All sources are read before a destination is written: the two may name the same registers.
void Translator::MoveVector(const Statement& statement, Type type, size_t length) {
  const std::vector<Operand> tos = Elements(statement.operands[0]);
  const std::vector<Operand> froms = Elements(statement.operands[1]);
  if (tos.size() != length || froms.size() != length) {
    return Wrong("another number of values than the vector's");
  }
  const RowClass row = RowOf(type);
  llvm::SmallVector<int32_t, 8> held;
  for (const Operand& from : froms) {
    const int32_t source = Source(from, type);
    held.push_back(NewRegister(row));
    EmitMove(held.back(), source, row);
  }
  for (size_t i = 0; i < length; ++i) EmitMove(Destination(tos[i], type), held[i], row);
}

void Translator::Move(const Statement& statement, Form& form) {
  size_t vector = 0;
  if (form.Take("v2")) vector = 2;
  if (form.Take("v4")) vector = 4;
  if (form.Take("v8")) vector = 8;
  const auto type = form.TakeType();
  if (!type || !form.empty()) return Unknown();
  if (BitsOf(*type) > 64) return Unknown();
  if (statement.operands.size() != 2) return Wrong("mov has two operands");
  if (vector != 0) return MoveVector(statement, *type, vector);
  const Operand& to = statement.operands[0];
  const Operand& from = statement.operands[1];
  const bool pack = Elements(from).size() > 1 || from.kind == Operand::Kind::kVector;
  const bool unpack = Elements(to).size() > 1 || to.kind == Operand::Kind::kVector;
  if (!pack && !unpack) {
    const int32_t source = Source(from, *type);
    return EmitMove(Destination(to, *type), source, RowOf(*type));
  }
  const int parts = static_cast<int>(Elements(pack ? from : to).size());
  const auto pick = pack ? PickMovePack(*type, parts) : PickMoveUnpack(*type, parts);
  if (!pick) return Unknown();
  llvm::SmallVector<int32_t, 8> refs;
  const std::vector<Operand> tos = Elements(to);
  const std::vector<Operand> froms = Elements(from);
  for (size_t i = 0; i < tos.size(); ++i) refs.push_back(Destination(tos[i], pick->to[i]));
  for (size_t i = 0; i < froms.size(); ++i) refs.push_back(Source(froms[i], pick->from[i]));
  Emit(*pick, refs, (1 << tos.size()) - 1);
}

// Between generic addresses and those of a space: the window's base is added or taken away.
void Translator::ConvertAddress(const Statement& statement, Form& form) {
  const bool to_space = form.Take("to");
  uint64_t window = 0;
  if (form.Take("shared") || form.Take("shared::cta")) {
    window = kSharedWindow;
  } else if (form.Take("local")) {
    window = kLocalWindow;
  } else if (!form.Take("global") && !form.Take("const") && !form.Take("param")) {
    return Unknown();
  }
  if (!form.Take("u64") || !form.empty()) return Unknown();
  if (statement.operands.size() != 2) return Wrong("cvta has two operands");
  const int32_t from = Source(statement.operands[1], Type::kU64);
  const int32_t to = Destination(statement.operands[0], Type::kU64);
  if (window == 0) return EmitMove(to, from, RowClass::k64);
  Form add("add.u64");
  Emit(*PickInteger(add), {to, from, LiteralRow(to_space ? 0 - window : window, RowClass::k64)}, 1);
}

}  // namespace onepass::sim
