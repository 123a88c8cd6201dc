// Instructions: the form chooses what executes them, the operands become its rows.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/translator.h"

namespace onepass::sim {
namespace {

bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsBitOperation(std::string_view base) {
  return IsOneOf(base, {"and", "or", "xor", "not", "cnot", "shl", "shr", "shf", "prmt", "lop3",
                        "popc", "clz", "brev", "bfi", "bfe", "bfind", "selp"});
}

bool IsArithmetic(std::string_view base) {
  return IsOneOf(base,
                 {"add", "sub",  "mul",      "mad",   "fma",  "div",  "rem",   "min", "max", "neg",
                  "abs", "sad",  "copysign", "testp", "rcp",  "sqrt", "rsqrt", "ex2", "lg2", "sin",
                  "cos", "tanh", "mul24",    "mad24", "dp4a", "addc", "subc",  "madc"});
}

bool IsControl(std::string_view base) {
  return IsOneOf(base,
                 {"trap", "brkpt", "pmevent", "nanosleep", "membar", "fence", "griddepcontrol"});
}

bool IsPlainPermute(std::string_view name) { return name == "prmt.b32"; }

Logic LogicOf(std::string_view base, const Pick& pick) {
  if (base == "lop3") return {Logic::Kind::kTable, 32, 0b1110};
  if (base != "and" && base != "or") return {};
  const Type type = pick.from[0];
  const int bits = type == Type::kPred ? 1 : BitsOf(type);
  return {base == "and" ? Logic::Kind::kAnd : Logic::Kind::kOr, static_cast<uint8_t>(bits), 0b110};
}

bool IsSpecial(std::string_view base) {
  return IsOneOf(base, {"rcp", "sqrt", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"});
}

}  // namespace

void Translator::Emit(const Pick& pick, llvm::ArrayRef<int32_t> refs, int writes) {
  DraftOp op;
  op.fn = pick.fn;
  op.flags = pick.flags;
  std::fill(std::begin(op.r), std::end(op.r), DraftOp::kNone);
  if (refs.size() > DraftOp::kMostRefs) return Wrong("too many operands");
  std::copy(refs.begin(), refs.end(), op.r);
  op.refs = static_cast<uint8_t>(refs.size());
  op.writes = static_cast<uint16_t>(writes);
  op.origin = OriginNow();
  if (now_ != nullptr && !now_->guard.empty()) {
    Symbol symbol;
    if (!FindRegister(now_->guard, symbol) || draft_.registers[symbol.value] != RowClass::kMask) {
      return Wrong(absl::StrFormat("'%s' is no predicate", now_->guard));
    }
    op.guard = static_cast<int32_t>(symbol.value);
    op.guard_negated = now_->guard_negated;
  }
  draft_.ops.push_back(op);
}

void Translator::EmitMove(int32_t to, int32_t from, RowClass row) {
  Emit(Pick{MoveFn(row)}, {to, from}, 1);
}

void Translator::Instruction(const Statement& statement) {
  Form form(statement.name);
  const std::string_view base = form.base();
  if (Flow(statement, form)) {
    // Branches, calls and returns.
  } else if (base == "cp" || base == "mbarrier" || (form.Has("async") && base != "fence")) {
    Async(statement, form);
  } else if (base == "ldmatrix" || base == "stmatrix") {
    MoveMatrices(statement, form);
  } else if (base == "mma") {
    MultiplyMatrices(statement, form);
  } else if (base == "mov") {
    Move(statement, form);
  } else if (base == "cvta") {
    ConvertAddress(statement, form);
  } else if (base == "ld" || base == "ldu" || base == "st") {
    Access(statement, form, base == "st");
  } else if (base == "atom" || base == "red") {
    Atomic(statement, form, base == "atom");
  } else if (base == "setp" || base == "set") {
    Compare(statement, form);
  } else if (base == "bar" && form.Has("warp")) {
    Collective(statement, form);
  } else if (base == "barrier" && form.Has("cluster")) {
    const auto pick = PickClusterBarrier(form);
    if (!pick || !form.empty()) return Unknown();
    Emit(*pick, {}, 0);
  } else if (base == "bar" || base == "barrier") {
    Barrier(statement, form);
  } else if (base == "shfl") {
    Shuffle(statement, form);
  } else if (IsOneOf(base, {"vote", "match", "redux", "activemask", "elect"})) {
    Collective(statement, form);
  } else if (IsOneOf(base, {"prefetch", "prefetchu", "applypriority", "discard"})) {
    AddressOnly(statement, form);
  } else {
    Generic(statement, form);
  }
}

std::optional<Pick> Translator::PickGeneric(const Statement& statement, Form& form) {
  const std::string_view base = form.base();
  const std::string_view name = statement.name;
  if (IsControl(base)) return PickControl(form);
  if (IsOneOf(base, {"mapa", "getctarank"})) return PickClusterAddress(form);
  if (base == "isspacep") return PickSpaceTest(form);
  if (base == "createpolicy") return PickPolicy(form, static_cast<int>(statement.operands.size()));
  if (IsOneOf(base, {"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr"})) {
    return PickVideo(form);
  }
  if (IsOneOf(base, {"dp2a", "bmsk", "szext", "fns"}) ||
      (base == "prmt" && !IsPlainPermute(name))) {
    return PickRareBits(form);
  }
  if (base == "cvt") {
    const bool pairs =
        absl::StrContains(absl::string_view(name.data(), name.size()), "x2") || form.Has("pack");
    return pairs ? PickPack(form) : PickConvert(form);
  }
  if (IsBitOperation(base)) return PickBits(form);
  if (!IsArithmetic(base)) return std::nullopt;
  if (form.Has("f32") || form.Has("f32x2")) {
    return IsSpecial(base) ? PickSpecial(form)
                           : PickFloat32(form, static_cast<int>(statement.operands.size()));
  }
  if (form.Has("f64")) return PickFloat64(form);
  if (form.Has("f16") || form.Has("f16x2") || form.Has("bf16") || form.Has("bf16x2")) {
    return PickHalf(form);
  }
  if (form.Has("cc") || IsOneOf(base, {"addc", "subc", "madc"})) return PickCarry(form);
  return PickInteger(form);
}

void Translator::Generic(const Statement& statement, Form& form) {
  const auto pick = PickGeneric(statement, form);
  if (!pick || !form.empty()) return Unknown();
  const size_t to = pick->to.size();
  if (statement.operands.size() != to + pick->from.size()) {
    return Wrong(absl::StrFormat("%d operands where %d are expected", statement.operands.size(),
                                 to + pick->from.size()));
  }
  llvm::SmallVector<int32_t, 8> refs;
  for (size_t i = 0; i < to; ++i) {
    refs.push_back(Destination(statement.operands[i], pick->to[i]));
  }
  for (size_t i = 0; i < pick->from.size(); ++i) {
    const Operand& operand = statement.operands[to + i];
    if (operand.negated) return Wrong("a negated operand is not expected here");
    refs.push_back(Source(operand, pick->from[i]));
  }
  Emit(*pick, refs, (1 << to) - 1);
  if (!error_.ok()) return;
  draft_.ops.back().select = form.base() == "selp";
  draft_.ops.back().logic = LogicOf(form.base(), *pick);
}

void Translator::Compare(const Statement& statement, Form& form) {
  const auto& operands = statement.operands;
  Comparison comparison;
  if (operands.size() < 3 || operands.size() > 4) return Wrong("a comparison has 3 or 4 operands");
  comparison.has_second = !operands[0].second.empty();
  comparison.has_combine = operands.size() == 4;
  comparison.combine_negated = comparison.has_combine && operands[3].negated;
  Logic::Kind combine = Logic::Kind::kNone;
  if (comparison.has_combine && form.Has("and")) combine = Logic::Kind::kAnd;
  if (comparison.has_combine && form.Has("or")) combine = Logic::Kind::kOr;
  const auto pick = PickCompare(form, comparison);
  if (!pick || !form.empty()) return Unknown();
  if (form.base() == "set" && (comparison.has_second || comparison.has_combine)) return Unknown();
  llvm::SmallVector<int32_t, 8> refs = {Destination(operands[0], pick->to[0]),
                                        Source(operands[1], pick->from[0]),
                                        Source(operands[2], pick->from[1])};
  int writes = 1;
  if (comparison.has_second || comparison.has_combine) {
    Operand second;
    second.name = operands[0].second;
    if (!comparison.has_second) second.kind = Operand::Kind::kSink;
    refs.push_back(Destination(second, Type::kPred));
    writes |= 8;
  }
  if (comparison.has_combine) refs.push_back(Source(operands[3], Type::kPred));
  Emit(*pick, refs, writes);
  if (error_.ok() && combine != Logic::Kind::kNone) {
    draft_.ops.back().logic = {combine, 1, 1 << 4, comparison.combine_negated};
  }
}

}  // namespace onepass::sim
