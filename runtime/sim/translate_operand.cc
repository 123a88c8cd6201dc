// Operands: names and literals become virtual registers and constants.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/sim/translator.h"

namespace onepass::sim {

int32_t Translator::ConstantRow(Constant constant) {
  for (size_t i = draft_.constants.size(); i-- > 0;) {
    if (draft_.constants[i].Same(constant)) return ~static_cast<int32_t>(i);
  }
  draft_.constants.push_back(constant);
  return ~(static_cast<int32_t>(draft_.constants.size()) - 1);
}

int32_t Translator::LiteralRow(uint64_t bits, RowClass row) {
  if (row == RowClass::kMask) bits = bits != 0 ? 0xffffffffu : 0;
  if (row == RowClass::k32) bits &= 0xffffffffu;
  const auto [entry, added] = literals_.insert({{bits, static_cast<int>(row)}, 0});
  if (added) {
    Constant constant;
    constant.row = row;
    constant.bits = bits;
    draft_.constants.push_back(constant);
    entry->second = ~(static_cast<int32_t>(draft_.constants.size()) - 1);
  }
  return entry->second;
}

bool Translator::FindRegister(std::string_view name, Symbol& symbol) {
  return scopes_.Find(name, symbol) && symbol.kind == Symbol::Kind::kRegister;
}

// "reg + 4" as a value.
int32_t Translator::SumRow(int32_t reg, int64_t addend, RowClass row) {
  Form add(row == RowClass::k64 ? "add.u64" : "add.u32");
  const int32_t sum = NewRegister(row);
  Emit(*PickInteger(add), {sum, reg, LiteralRow(static_cast<uint64_t>(addend), row)}, 1);
  return sum;
}

// The address that a variable's name stands for, in its own space.
int32_t Translator::SymbolRow(const Symbol& symbol, int64_t addend, RowClass row) {
  Constant constant;
  constant.row = row;
  constant.bits = static_cast<uint64_t>(addend);
  switch (symbol.kind) {
    case Symbol::Kind::kShared: {
      // Others of no bytes may begin at the same place.
      const auto find = [&](bool empty) {
        return std::find_if(draft_.shared.begin(), draft_.shared.end(), [&](const auto& shared) {
          return !shared.dynamic && shared.offset == symbol.value && (shared.bytes > 0 || empty);
        });
      };
      auto variable = find(/*empty=*/false);
      if (variable == draft_.shared.end()) variable = find(/*empty=*/true);
      constant.kind = Constant::Kind::kShared;
      constant.bits += static_cast<uint64_t>(symbol.value);
      constant.index = static_cast<int>(variable - draft_.shared.begin());
      return ConstantRow(constant);
    }
    case Symbol::Kind::kLocal:
      if (routine_ != nullptr && row == RowClass::k64) {  // in its frame
        return SumRow(stack_pointer_, symbol.value + addend, row);
      }
      return LiteralRow(symbol.value + addend, row);
    case Symbol::Kind::kParameter:
      return LiteralRow(kParamWindow + symbol.value + addend, row);
    case Symbol::Kind::kDynamicShared:
      constant.kind = Constant::Kind::kDynamicShared;
      return ConstantRow(constant);
    case Symbol::Kind::kGlobal:
      constant.kind = Constant::Kind::kVariable;
      constant.index = static_cast<int>(symbol.value);
      return ConstantRow(constant);
    default:
      Wrong("a label or a family of registers is no operand");
      return LiteralRow(0, row);
  }
}

int32_t Translator::Source(const Operand& operand, Type type) {
  const RowClass row = RowOf(type);
  if (operand.kind == Operand::Kind::kLiteral) {
    return LiteralRow(BitsAs(operand.literal, type), row);
  }
  if (operand.kind != Operand::Kind::kName) {
    Wrong("an operand of this kind is not expected here");
    return LiteralRow(0, row);
  }
  Symbol symbol;
  if (scopes_.Find(operand.name, symbol)) {
    if (symbol.kind != Symbol::Kind::kRegister) return SymbolRow(symbol, operand.offset, row);
    const int32_t reg = static_cast<int32_t>(symbol.value) + operand.element;
    if (draft_.registers[reg] == row && operand.offset == 0) return reg;
    if (draft_.registers[reg] == row && row != RowClass::kMask) {
      return SumRow(reg, operand.offset, row);
    }
    Wrong(absl::StrFormat("register '%s' does not have the width of its type", operand.name));
    return LiteralRow(0, row);
  }
  const auto shared =
      names_.shared.find(absl::string_view(operand.name.data(), operand.name.size()));
  if (shared != names_.shared.end()) {
    Symbol found{Symbol::Kind::kDynamicShared};
    if (!shared->second->unsized) {
      found = {Symbol::Kind::kShared, SharedOffset(*shared->second)};
    } else {
      NameDynamicShared(*shared->second);
    }
    return SymbolRow(found, operand.offset, row);
  }
  const auto function =
      names_.functions.find(absl::string_view(operand.name.data(), operand.name.size()));
  if (function != names_.functions.end() && function->second->has_body) {
    return LiteralRow(names_.AddressOf(*function->second), row);
  }
  if (const auto special = PickSpecialRegister(operand.name, type)) {
    const int32_t temporary = NewRegister(row);
    Emit(*special, {temporary}, 1);
    return temporary;
  }
  if (!operand.name.empty() && operand.name[0] == '%') {
    Fail(absl::StatusCode::kUnimplemented, absl::StrFormat("unknown register '%s'", operand.name));
  } else {
    Wrong(absl::StrFormat("unknown name '%s'", operand.name));
  }
  return LiteralRow(0, row);
}

int32_t Translator::Destination(const Operand& operand, Type type) {
  const RowClass row = RowOf(type);
  if (operand.kind == Operand::Kind::kSink) return NewRegister(row);
  Symbol symbol;
  if (operand.kind != Operand::Kind::kName || !FindRegister(operand.name, symbol)) {
    Wrong(absl::StrFormat("'%s' is no register", operand.name));
    return NewRegister(row);
  }
  const int32_t reg = static_cast<int32_t>(symbol.value) + operand.element;
  if (draft_.registers[reg] != row) {
    Wrong(absl::StrFormat("register '%s' does not have the width of its type", operand.name));
    return NewRegister(row);
  }
  return reg;
}

// The row of a register that may be wider than the type; of anything else the type's own.
RowClass Translator::RowOfOperand(const Operand& operand, Type type) {
  Symbol symbol;
  if (operand.kind == Operand::Kind::kName && FindRegister(operand.name, symbol)) {
    return draft_.registers[symbol.value];
  }
  return RowOf(type);
}

// The parts of "{a, b}", of a vector register, or the operand itself.
std::vector<Operand> Translator::Elements(const Operand& operand) {
  if (operand.kind == Operand::Kind::kVector) return operand.elements;
  Symbol symbol;
  const bool whole = operand.kind == Operand::Kind::kName && FindRegister(operand.name, symbol);
  std::vector<Operand> elements(whole ? symbol.vector : 1, operand);
  for (size_t i = 1; i < elements.size(); ++i) elements[i].element = static_cast<int>(i);
  return elements;
}

// The space of the variable that a name stands for.
Space Translator::SpaceNamed(std::string_view name) {
  Symbol symbol;
  if (!scopes_.Find(name, symbol)) {
    const bool shared = names_.shared.contains(absl::string_view(name.data(), name.size()));
    return shared ? Space::kShared : Space::kGeneric;
  }
  switch (symbol.kind) {
    case Symbol::Kind::kShared:
    case Symbol::Kind::kDynamicShared:
      return Space::kShared;
    case Symbol::Kind::kLocal:
      return Space::kLocal;
    case Symbol::Kind::kGlobal:
      return Space::kGlobal;
    default:
      return Space::kGeneric;
  }
}

Translator::Address Translator::AddressOf(const Operand& operand) {
  Address address;
  address.offset = operand.offset;
  if (operand.kind != Operand::Kind::kAddress) {
    Wrong("expected an address");
    return address;
  }
  Symbol symbol;
  if (operand.name.empty()) {
    address.ref = LiteralRow(static_cast<uint64_t>(operand.offset), RowClass::k64);
    address.offset = 0;
  } else if (FindRegister(operand.name, symbol)) {
    address.ref = static_cast<int32_t>(symbol.value);
    address.address32 = draft_.registers[symbol.value] == RowClass::k32;
    if (draft_.registers[symbol.value] == RowClass::kMask) Wrong("a predicate is no address");
  } else if (scopes_.Find(operand.name, symbol) && symbol.kind == Symbol::Kind::kParameter) {
    address.parameter = true;
    address.offset += symbol.value;
  } else {
    address.named = SpaceNamed(operand.name);
    address.local = address.named == Space::kLocal;
    Operand name = operand;
    name.kind = Operand::Kind::kName;
    address.ref = Source(name, Type::kB64);
    address.offset = 0;
  }
  if (address.offset != static_cast<int32_t>(address.offset)) {
    Wrong("an address offset beyond 32 bits");
  }
  return address;
}

}  // namespace onepass::sim
