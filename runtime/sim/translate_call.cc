// Calls: the callee's body is translated in the caller's place.
#include <algorithm>

#include "absl/strings/str_format.h"
#include "runtime/sim/translator.h"

namespace onepass::sim {

void Translator::Call(const Statement& statement) {
  std::vector<Operand> results;
  std::vector<Operand> arguments;
  std::string_view name;
  for (const Operand& operand : statement.operands) {
    if (operand.kind == Operand::Kind::kList) {
      (name.empty() ? results : arguments) = operand.elements;
    } else if (name.empty()) {
      name = operand.name;
    }
  }
  const auto found = names_.functions.find(absl::string_view(name.data(), name.size()));
  if (found == names_.functions.end()) {
    return Fail(absl::StatusCode::kUnimplemented,
                absl::StrFormat("call through '%s', which is no function", name));
  }
  const Function& callee = *found->second;
  if (!callee.has_body) return CallExtern(callee);
  if (std::find(calls_.begin(), calls_.end(), &callee) != calls_.end()) {
    return Fail(absl::StatusCode::kUnimplemented, "a recursive call");
  }
  if (results.size() != callee.results.size() || arguments.size() != callee.parameters.size()) {
    return Wrong("a call with another number of arguments than its function has");
  }
  const Statement* call = now_;
  const int behind = NewLabel();
  // A guarded call is a jump over the body.
  if (!statement.guard.empty()) {
    Emit(Pick{JumpFn()}, {}, 0);
    if (!error_.ok()) return;
    DraftOp& jump = draft_.ops.back();
    jump.flow = DraftOp::Flow::kBranch;
    jump.guard_negated = !jump.guard_negated;
    jump.label = behind;
  }
  Statement unguarded = statement;
  unguarded.guard = {};
  now_ = &unguarded;
  calls_.push_back(&callee);
  return_labels_.push_back(behind);
  BindParameters(callee, results, arguments);
  Body(callee);
  scopes_.Close();
  draft_.label_at[behind] = static_cast<int32_t>(draft_.ops.size());
  calls_.pop_back();
  return_labels_.pop_back();
  now_ = call;
  origin_of_ = nullptr;
}

// Opens the callee's scope. Variables in .param space are the caller's own, under another name.
void Translator::BindParameters(const Function& callee, const std::vector<Operand>& results,
                                const std::vector<Operand>& arguments) {
  llvm::SmallVector<std::pair<const Variable*, Symbol>, 8> bound;
  const auto bind = [&](const Variable& formal, const Operand& actual, bool argument) {
    Symbol symbol;
    const bool known = actual.kind == Operand::Kind::kName && scopes_.Find(actual.name, symbol);
    if (formal.space == Space::kParam) {
      if (!known || symbol.kind != Symbol::Kind::kLocal) {
        return Fail(absl::StatusCode::kUnimplemented, "an argument that is no .param variable");
      }
    } else if (argument) {
      const RowClass row = RowOf(formal.type);
      const int32_t reg = NewRegister(row);
      EmitMove(reg, Source(actual, formal.type), row);
      symbol = {Symbol::Kind::kRegister, reg};
    } else if (!known || symbol.kind != Symbol::Kind::kRegister) {
      return Wrong("a result that is no register");
    }
    bound.push_back({&formal, symbol});
  };
  for (size_t i = 0; i < results.size(); ++i) bind(callee.results[i], results[i], false);
  for (size_t i = 0; i < arguments.size(); ++i) bind(callee.parameters[i], arguments[i], true);
  scopes_.Open(/*function=*/true);
  for (const auto& [formal, symbol] : bound) scopes_.Add(formal->name, symbol);
}

void Translator::CallExtern(const Function& callee) {
  if (callee.name == "__assertfail") {
    Form trap("trap");
    return Emit(*PickControl(trap), {}, 0);
  }
  Fail(absl::StatusCode::kUnimplemented,
       absl::StrFormat("call of the extern function '%s'", callee.name));
}

}  // namespace onepass::sim
