// Calls: the callee's body is translated in the caller's place. Only functions that can call
// themselves become routines: translate_routine.cc.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/sim/translator.h"

namespace onepass::sim {
namespace {

int64_t BytesOf(const std::vector<Variable>& variables, size_t i) { return variables[i].bytes(); }

bool SameShapes(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (BytesOf(a, i) != BytesOf(b, i)) return false;
  }
  return true;
}

}  // namespace

void Translator::EmitBranch(int32_t predicate, bool negated, int label) {
  Emit(Pick{JumpFn()}, {}, 0);
  if (!error_.ok()) return;
  DraftOp& jump = draft_.ops.back();
  jump.guard = predicate;
  jump.guard_negated = negated;
  jump.flow = predicate < 0 ? DraftOp::Flow::kJump : DraftOp::Flow::kBranch;
  jump.label = label;
}

void Translator::PlaceLabel(int label) {
  draft_.label_at[label] = static_cast<int32_t>(draft_.ops.size());
}

int32_t Translator::EqualsLiteral(int32_t row, uint64_t value, RowClass width) {
  Form equal(width == RowClass::k64 ? "setp.eq.u64" : "setp.eq.u32");
  const int32_t predicate = NewRegister(RowClass::kMask);
  Emit(*PickCompare(equal, {}), {predicate, row, LiteralRow(value, width)}, 1);
  return predicate;
}

// A guarded call is a jump over the body, in which nothing is guarded by it.
void Translator::Call(const Statement& statement) {
  Symbol guard;
  if (statement.guard.empty()) return CallUnguarded(statement);
  if (!FindRegister(statement.guard, guard) || draft_.registers[guard.value] != RowClass::kMask) {
    return Wrong(absl::StrFormat("'%s' is no predicate", statement.guard));
  }
  Statement unguarded = statement;
  unguarded.guard = {};
  now_ = &unguarded;
  const int behind = NewLabel();
  EmitBranch(static_cast<int32_t>(guard.value), !statement.guard_negated, behind);
  CallUnguarded(unguarded);
  PlaceLabel(behind);
  now_ = &statement;
  origin_of_ = nullptr;
}

void Translator::CallUnguarded(const Statement& statement) {
  Emit(CallPick(), {}, 0);
  CallSite site;
  std::string_view name;
  std::string_view prototype;
  for (const Operand& operand : statement.operands) {
    if (operand.kind == Operand::Kind::kList) {
      (name.empty() ? site.results : site.arguments) = operand.elements;
    } else {
      (name.empty() ? name : prototype) = operand.name;
    }
  }
  const auto found = names_.functions.find(absl::string_view(name.data(), name.size()));
  if (found != names_.functions.end()) return CallFunction(*found->second, site);
  Symbol pointer;
  if (FindRegister(name, pointer) && draft_.registers[pointer.value] == RowClass::k64) {
    return CallPointer(static_cast<int32_t>(pointer.value), prototype, site);
  }
  Fail(absl::StatusCode::kUnimplemented,
       absl::StrFormat("call of '%s', which is no function", name));
}

// One comparison for each function that the pointer may stand for.
void Translator::CallPointer(int32_t pointer, std::string_view prototype, const CallSite& site) {
  const std::vector<const Function*> candidates = CandidatesOf(prototype, site);
  if (!error_.ok()) return;
  const Statement* call = now_;
  std::vector<int> labels;
  for (const Function* candidate : candidates) {
    labels.push_back(NewLabel());
    const uint64_t address = names_.AddressOf(*candidate);
    EmitBranch(EqualsLiteral(pointer, address, RowClass::k64), false, labels.back());
  }
  Emit(NoFunctionPick(), {}, 0);
  const int behind = NewLabel();
  for (size_t i = 0; i < candidates.size() && error_.ok(); ++i) {
    PlaceLabel(labels[i]);
    CallFunction(*candidates[i], site);
    now_ = call;
    EmitBranch(-1, false, behind);
  }
  PlaceLabel(behind);
}

// The functions of the .calltargets list, or those whose parameters the .callprototype describes.
std::vector<const Function*> Translator::CandidatesOf(std::string_view prototype,
                                                      const CallSite& site) {
  Symbol symbol;
  if (!scopes_.Find(prototype, symbol) || symbol.kind != Symbol::Kind::kTargets) {
    Wrong("a call through a pointer needs a .callprototype or .calltargets");
    return {};
  }
  const Statement& statement = (*body_)[symbol.value];
  std::vector<const Function*> candidates;
  for (const Operand& target : statement.operands) {
    const auto found =
        names_.functions.find(absl::string_view(target.name.data(), target.name.size()));
    if (found == names_.functions.end()) Wrong("a target that is no function");
    if (found != names_.functions.end()) candidates.push_back(found->second);
  }
  if (!candidates.empty()) return candidates;
  for (const Function* function : names_.defined) {
    if (!function->entry && SameShapes(function->results, statement.prototype_results) &&
        SameShapes(function->parameters, statement.variables) &&
        site.arguments.size() == function->parameters.size()) {
      candidates.push_back(function);
    }
  }
  return candidates;
}

void Translator::CallFunction(const Function& callee, const CallSite& site) {
  if (!callee.has_body) return CallExtern(callee, site);
  if (site.results.size() != callee.results.size() ||
      site.arguments.size() != callee.parameters.size()) {
    return Wrong("a call with another number of arguments than its function has");
  }
  if (names_.recursive.contains(&callee)) return CallRoutine(callee, site);
  if (calls_.size() > 256) return Wrong("calls nested too deep");
  const Statement* call = now_;
  const int behind = NewLabel();
  calls_.push_back(&callee);
  return_labels_.push_back(behind);
  BindParameters(callee, site);
  Body(callee);
  scopes_.Close();
  PlaceLabel(behind);
  calls_.pop_back();
  return_labels_.pop_back();
  now_ = call;
  origin_of_ = nullptr;
}

// The registers of a formal parameter in .reg space, filled from the actual one.
Symbol Translator::BindRegister(const Variable& formal, const Operand& actual) {
  const RowClass row = RowOf(formal.type);
  const std::vector<Operand> parts = Elements(actual);
  if (static_cast<int>(parts.size()) != formal.vector) {
    Wrong("an argument with another number of elements");
    return {};
  }
  llvm::SmallVector<int32_t, 4> sources;
  for (const Operand& part : parts) sources.push_back(Source(part, formal.type));
  Symbol symbol{Symbol::Kind::kRegister, static_cast<int64_t>(draft_.registers.size()),
                formal.vector};
  for (const int32_t source : sources) EmitMove(NewRegister(row), source, row);
  return symbol;
}

// Opens the callee's scope. Variables in .param space are the caller's own, under another name.
void Translator::BindParameters(const Function& callee, const CallSite& site) {
  llvm::SmallVector<std::pair<const Variable*, Symbol>, 8> bound;
  const auto bind = [&](const Variable& formal, const Operand& actual, bool argument) {
    Symbol symbol;
    const bool known = actual.kind == Operand::Kind::kName && scopes_.Find(actual.name, symbol);
    if (formal.space == Space::kParam) {
      if (!known || symbol.kind != Symbol::Kind::kLocal) {
        return Fail(absl::StatusCode::kUnimplemented, "an argument that is no .param variable");
      }
    } else if (argument) {
      symbol = BindRegister(formal, actual);
    } else if (!known || symbol.kind != Symbol::Kind::kRegister) {
      return Wrong("a result that is no register");
    }
    bound.push_back({&formal, symbol});
  };
  for (size_t i = 0; i < site.results.size(); ++i) {
    bind(callee.results[i], site.results[i], false);
  }
  for (size_t i = 0; i < site.arguments.size(); ++i) {
    bind(callee.parameters[i], site.arguments[i], true);
  }
  scopes_.Open(/*function=*/true);
  for (const auto& [formal, symbol] : bound) scopes_.Add(formal->name, symbol);
}

// The value of a .param variable of a call.
int32_t Translator::LoadArgument(const Operand& argument, Type type) {
  const int32_t value = NewRegister(RowOf(type));
  EmitLocal(/*store=*/false, value, Source(argument, Type::kB64), 0, BitsOf(type) / 8);
  return value;
}

void Translator::CallExtern(const Function& callee, const CallSite& site) {
  if (callee.name == "__assertfail" && site.arguments.size() == 5) {
    llvm::SmallVector<int32_t, 8> refs;
    for (const Type type : {Type::kB64, Type::kB64, Type::kB32, Type::kB64}) {
      refs.push_back(LoadArgument(site.arguments[refs.size()], type));
    }
    return Emit(AssertPick(), refs, 0);
  }
  if (callee.name == "vprintf" && site.arguments.size() == 2 && site.results.size() == 1) {
    const int32_t format = LoadArgument(site.arguments[0], Type::kB64);
    const int32_t values = LoadArgument(site.arguments[1], Type::kB64);
    const int32_t result = NewRegister(RowClass::k32);
    Emit(PrintPick(), {result, format, values}, 1);
    return EmitLocal(/*store=*/true, result, Source(site.results[0], Type::kB64), 0, 4);
  }
  Fail(absl::StatusCode::kUnimplemented,
       absl::StrFormat("call of the extern function '%s'", callee.name));
}

}  // namespace onepass::sim
