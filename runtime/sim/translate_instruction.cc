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
  if (error_.ok()) draft_.ops.back().select = form.base() == "selp";
}

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

void Translator::Compare(const Statement& statement, Form& form) {
  const auto& operands = statement.operands;
  Comparison comparison;
  if (operands.size() < 3 || operands.size() > 4) return Wrong("a comparison has 3 or 4 operands");
  comparison.has_second = !operands[0].second.empty();
  comparison.has_combine = operands.size() == 4;
  comparison.combine_negated = comparison.has_combine && operands[3].negated;
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
}

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
