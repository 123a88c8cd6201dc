// Asynchronous operations, mbarriers and matrices.
#include "absl/strings/str_format.h"
#include "runtime/sim/addresses.h"
#include "runtime/sim/translator.h"

namespace onepass::sim {

void Translator::Async(const Statement& statement, Form& form) {
  const auto& operands = statement.operands;
  const int count = static_cast<int>(operands.size());
  const std::string_view base = form.base();
  std::optional<AsyncPick> pick;
  if (base == "cp") {
    Symbol symbol;
    const bool predicate = count > 3 && operands[3].kind == Operand::Kind::kName &&
                           FindRegister(operands[3].name, symbol) &&
                           draft_.registers[symbol.value] == RowClass::kMask;
    pick = PickAsyncCopy(form, count, predicate);
  } else if (base == "mbarrier") {
    const bool has_state = count > 0 && operands[0].kind == Operand::Kind::kName;
    pick = PickMbarrier(form, count, has_state);
  } else if (base == "st" || base == "red") {
    pick = PickAsyncStore(form);
  }
  if (!pick || !form.empty()) return Unknown();
  // The size of a cp.async stands in the text.
  if (base == "cp" && count > 2 && pick->pick.from.size() + 1 == operands.size()) {
    return CopyAsync(statement, *pick);
  }
  EmitAsync(statement, *pick);
}

// cp.async [to], [from], SIZE ...: the size goes into the flags.
void Translator::CopyAsync(const Statement& statement, AsyncPick pick) {
  Statement rest = statement;
  const Operand& size = statement.operands[2];
  const uint64_t bytes = size.kind == Operand::Kind::kLiteral ? size.literal.bits : 0;
  if (bytes != 4 && bytes != 8 && bytes != 16) return Wrong("cp.async copies 4, 8 or 16 bytes");
  pick.pick.flags |= static_cast<uint32_t>(bytes) << 16;
  rest.operands.erase(rest.operands.begin() + 2);
  EmitAsync(rest, pick);
}

void Translator::EmitAsync(const Statement& statement, const AsyncPick& pick) {
  const auto& operands = statement.operands;
  const size_t to = pick.pick.to.size();
  const size_t count = to + pick.pick.from.size();
  std::vector<Operand> all;
  for (const Operand& operand : operands) {
    const bool vector = operand.kind == Operand::Kind::kVector;
    for (const Operand& part : vector ? operand.elements : std::vector<Operand>{operand}) {
      all.push_back(part);
    }
  }
  if (all.size() != count) {
    return Wrong(absl::StrFormat("%d operands where %d are expected", all.size(), count));
  }
  llvm::SmallVector<int32_t, 9> refs;
  size_t spaces = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i < to) {
      refs.push_back(Destination(all[i], pick.pick.to[i]));
    } else if (all[i].kind != Operand::Kind::kAddress) {
      refs.push_back(Source(all[i], pick.pick.from[i - to]));
    } else {
      if (spaces >= pick.spaces.size()) return Wrong("an address is not expected here");
      refs.push_back(GenericAddress(all[i], pick.spaces[spaces++]));
    }
  }
  Emit(pick.pick, refs, (1 << to) - 1);
  if (error_.ok()) draft_.ops.back().memory = OpUse::Memory::kAtomic;  // depends on all it reads
}

int32_t Translator::GenericAddress(const Operand& operand, Space space) {
  const Address address = AddressOf(operand);
  if (space == Space::kGeneric) space = address.named;
  uint64_t addend = static_cast<uint64_t>(address.offset);
  if (address.parameter) addend += kParamWindow;
  if (space == Space::kShared || space == Space::kSharedCluster) addend += kSharedWindow;
  if (space == Space::kLocal) addend += kLocalWindow;
  if (address.parameter) return LiteralRow(addend, RowClass::k64);
  int32_t row = address.ref;
  if (address.address32) {
    Form widen("cvt.u64.u32");
    row = NewRegister(RowClass::k64);
    Emit(*PickConvert(widen), {row, address.ref}, 1);
  }
  return addend == 0 ? row : SumRow(row, static_cast<int64_t>(addend), RowClass::k64);
}

void Translator::MoveMatrices(const Statement& statement, Form& form) {
  const auto& operands = statement.operands;
  const bool store = form.base() == "stmatrix";
  int count = 0;
  auto pick = PickMoveMatrices(form, store, count);
  if (!pick || !form.empty()) return Unknown();
  if (operands.size() != 2) return Wrong("registers and an address are expected");
  const Address address = AddressOf(operands[store ? 0 : 1]);
  if (address.address32) pick->flags |= AccessFlags::kAddress32;
  const std::vector<Operand> values = Elements(operands[store ? 1 : 0]);
  if (static_cast<int>(values.size()) != count) return Wrong("another number of registers");
  llvm::SmallVector<int32_t, 9> refs = {address.ref};
  for (const Operand& value : values) {
    refs.push_back(store ? Source(value, Type::kB32) : Destination(value, Type::kB32));
  }
  Emit(*pick, refs, store ? 0 : ((1 << count) - 1) << 1);
  if (error_.ok()) draft_.ops.back().offset = static_cast<int32_t>(address.offset);
}

void Translator::MultiplyMatrices(const Statement& statement, Form& form) {
  const auto& operands = statement.operands;
  const auto pick = PickMultiplyMatrices(form);
  if (!pick || !form.empty()) return Unknown();
  if (operands.size() != 4) return Wrong("mma has four operands");
  const int counts[4] = {pick->d, pick->a, pick->b, pick->d};
  llvm::SmallVector<int32_t, 16> refs;
  for (int i = 0; i < 4; ++i) {
    const std::vector<Operand> parts = Elements(operands[i]);
    if (static_cast<int>(parts.size()) != counts[i]) return Wrong("another number of registers");
    for (const Operand& part : parts) {
      refs.push_back(i == 0 ? Destination(part, Type::kB32) : Source(part, Type::kB32));
    }
  }
  // A Multiply has its refs in the long list, however few they are.
  while (refs.size() <= kMaxRefs) refs.push_back(DraftOp::kNone);
  Emit(Pick{pick->fn, {}, {}, pick->flags}, refs, (1 << pick->d) - 1);
}

}  // namespace onepass::sim
