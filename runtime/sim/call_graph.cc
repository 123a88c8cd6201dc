#include "runtime/sim/call_graph.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"

namespace onepass::sim {
namespace {

using Functions = std::vector<const Function*>;

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

bool IsCall(std::string_view name) { return name == "call" || name == "call.uni"; }

// The name of a call's target: a function or a register.
std::string_view TargetOf(const Statement& call) {
  for (const Operand& operand : call.operands) {
    if (operand.kind == Operand::Kind::kName) return operand.name;
  }
  return {};
}

class Graph {
 public:
  Graph(const Syntax& syntax, const ModuleNames& names) : names_(names) {
    for (const Variable& variable : syntax.variables) {
      for (const Initialiser& value : variable.initialisers) AddPointer(value.symbol);
    }
    for (const Function& function : syntax.functions) {
      for (const Statement& statement : function.body) Scan(function, statement);
    }
  }

  Functions CalleesOf(const Function* function) const {
    Functions callees;
    const auto direct = direct_.find(function);
    if (direct != direct_.end()) callees = direct->second;
    if (indirect_.contains(function)) {
      callees.insert(callees.end(), pointers_.begin(), pointers_.end());
    }
    return callees;
  }

  bool Reaches(const Function* from, const Function* to) const {
    absl::flat_hash_set<const Function*> seen;
    Functions work = CalleesOf(from);
    while (!work.empty()) {
      const Function* function = work.back();
      work.pop_back();
      if (function == to) return true;
      if (!seen.insert(function).second) continue;
      const Functions callees = CalleesOf(function);
      work.insert(work.end(), callees.begin(), callees.end());
    }
    return false;
  }

 private:
  const Function* Find(std::string_view name) const {
    const auto found = names_.functions.find(View(name));
    return found == names_.functions.end() || !found->second->has_body ? nullptr : found->second;
  }

  void AddPointer(std::string_view name) {
    const Function* function = Find(name);
    if (function != nullptr) pointers_.push_back(function);
  }

  void Scan(const Function& function, const Statement& statement) {
    const bool call = IsCall(statement.name);
    if (call) {
      const Function* callee = Find(TargetOf(statement));
      if (callee != nullptr) direct_[&function].push_back(callee);
      if (callee == nullptr) indirect_.insert(&function);
      return;
    }
    for (const Operand& operand : statement.operands) AddPointer(operand.name);
  }

  const ModuleNames& names_;
  absl::flat_hash_map<const Function*, Functions> direct_;
  absl::flat_hash_set<const Function*> indirect_;
  Functions pointers_;
};

}  // namespace

absl::flat_hash_set<const Function*> RecursiveFunctions(const Syntax& syntax,
                                                        const ModuleNames& names) {
  const Graph graph(syntax, names);
  absl::flat_hash_set<const Function*> recursive;
  for (const Function& function : syntax.functions) {
    if (function.has_body && !function.entry && graph.Reaches(&function, &function)) {
      recursive.insert(&function);
    }
  }
  return recursive;
}

}  // namespace onepass::sim
