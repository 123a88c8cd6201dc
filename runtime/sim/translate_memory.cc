// Loads, stores, atomics and other instructions with an address.
#include "absl/strings/str_format.h"
#include "runtime/sim/addresses.h"
#include "runtime/sim/translator.h"

namespace onepass::sim {

void Translator::Access(const Statement& statement, Form& form, bool store) {
  const std::vector<Operand>& operands = statement.operands;
  const bool hint = form.Take("L2::cache_hint");
  if (operands.size() != (hint ? 3u : 2u)) return Wrong("an access has a value and an address");
  const Address address = AddressOf(operands[store ? 0 : 1]);
  const std::vector<Operand> values = Elements(operands[store ? 1 : 0]);
  if (address.parameter && !store && form.Take("param")) {
    return LoadParameter(operands[0], form, address.offset);
  }
  sim::Access access;
  access.address32 = address.address32;
  access.vector = 1;
  Form copy = form;
  const auto type = copy.TakeType();
  if (type && !values.empty()) access.row = RowOfOperand(values[0], *type);
  auto pick = PickAccess(form, store, access);
  if (!pick || !form.empty()) return Unknown();
  if (static_cast<int>(values.size()) != access.vector) {
    return Wrong(absl::StrFormat("%d values in a vector of %d", values.size(), access.vector));
  }
  // A variable that is named lies in its own space, whatever the instruction leaves open.
  if ((address.local && access.space == Space::kParam) || access.space == Space::kGeneric) {
    pick->flags = (pick->flags & ~AccessFlags::kSpaceMask) | static_cast<uint32_t>(address.named);
  }
  const Type row = access.row == RowClass::k64
                       ? (BitsOf(access.type) == 64 ? access.type : Type::kB64)
                       : access.type;
  llvm::SmallVector<int32_t, 9> refs = {
      address.parameter
          ? LiteralRow(kParamWindow + static_cast<uint64_t>(address.offset), RowClass::k64)
          : address.ref};
  for (const Operand& value : values) {
    refs.push_back(store ? Source(value, row) : Destination(value, row));
  }
  if (hint && refs.size() < kMaxRefs) {  // beside eight values there is no room: no hint then
    refs.resize(kMaxRefs - 1, DraftOp::kNone);
    refs.push_back(Source(operands[2], Type::kB64));
    pick->flags |= uint32_t{kMaxRefs - 1} << kPolicyShift;
  }
  Emit(*pick, refs, store ? 0 : ((1 << values.size()) - 1) << 1);
  if (!error_.ok()) return;
  draft_.ops.back().offset = address.parameter ? 0 : static_cast<int32_t>(address.offset);
  draft_.ops.back().address = 0;
  draft_.ops.back().memory = store ? OpUse::Memory::kStore : OpUse::Memory::kLoad;
}

// The parameters of a kernel are the same for all threads: a load is a move of a constant.
void Translator::LoadParameter(const Operand& to, Form& form, int64_t offset) {
  size_t vector = 1;
  if (form.Take("v2")) vector = 2;
  if (form.Take("v4")) vector = 4;
  const auto type = form.TakeType();
  if (!type || !form.empty() || BitsOf(*type) > 64) return Unknown();
  const std::vector<Operand> values = Elements(to);
  if (values.size() != vector) return Wrong("another number of values than the vector's");
  int64_t bytes = 0;
  for (size_t i = 0; i < entry_.parameters.size(); ++i) {
    bytes = std::max(bytes, offsets_[i] + entry_.parameters[i].bytes());
  }
  for (const Operand& value : values) {
    Constant constant;
    constant.kind = Constant::Kind::kParameter;
    constant.row = RowOfOperand(value, *type);
    constant.type = *type;
    constant.bits = static_cast<uint64_t>(offset);
    if (offset < 0 || offset + BitsOf(*type) / 8 > bytes) return Wrong("beyond the parameters");
    const Type row = constant.row == RowClass::k64 ? Type::kB64 : *type;
    EmitMove(Destination(value, row), ConstantRow(constant), constant.row);
    offset += BitsOf(*type) / 8;
  }
}

void Translator::Atomic(const Statement& statement, Form& form, bool result) {
  const auto& operands = statement.operands;
  const size_t first = result ? 1 : 0;
  if (operands.size() < first + 2) return Wrong("an atomic has an address and a value");
  const Address address = AddressOf(operands[first]);
  auto pick = PickAtomic(form, result, address.address32);
  if (!pick || !form.empty() || address.parameter) return Unknown();
  if ((pick->flags & AccessFlags::kSpaceMask) == static_cast<uint32_t>(Space::kGeneric)) {
    pick->flags |= static_cast<uint32_t>(address.named);
  }
  llvm::SmallVector<int32_t, 9> refs;
  llvm::SmallVector<Operand, 9> values;
  if (result) {
    for (const Operand& to : Elements(operands[0])) values.push_back(to);
    if (values.size() != pick->to.size()) return Wrong("another number of results");
  }
  for (size_t i = 0; i < pick->to.size(); ++i) {
    refs.push_back(result ? Destination(values[i], pick->to[i]) : DraftOp::kNone);
  }
  refs.push_back(address.ref);
  llvm::SmallVector<Operand, 9> sources;
  for (size_t i = first + 1; i < operands.size(); ++i) {
    for (const Operand& from : Elements(operands[i])) sources.push_back(from);
  }
  if (sources.size() != pick->from.size()) return Wrong("another number of values");
  for (size_t i = 0; i < sources.size(); ++i) refs.push_back(Source(sources[i], pick->from[i]));
  Emit(*pick, refs, result ? (1 << pick->to.size()) - 1 : 0);
  if (!error_.ok()) return;
  draft_.ops.back().offset = static_cast<int32_t>(address.offset);
  draft_.ops.back().address = static_cast<int8_t>(pick->to.size());
  draft_.ops.back().memory = OpUse::Memory::kAtomic;
}

// prefetch, discard, applypriority: an address and perhaps a size.
void Translator::AddressOnly(const Statement& statement, Form& form) {
  if (statement.operands.empty()) return Wrong("an address is missing");
  const Address address = AddressOf(statement.operands[0]);
  auto pick = PickPrefetch(form);
  if (!pick || !form.empty() || address.parameter) return Unknown();
  if (address.address32) pick->flags |= AccessFlags::kAddress32;
  Emit(*pick, {address.ref}, 0);
  if (error_.ok()) draft_.ops.back().offset = static_cast<int32_t>(address.offset);
}

}  // namespace onepass::sim
