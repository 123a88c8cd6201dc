#include "runtime/sim/call_graph.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace onepass::sim {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

bool IsCall(std::string_view name) { return name == "call" || name == "call.uni"; }

// The name of a call's target: a function or a register.
std::string_view TargetOf(const Statement& call) {
  for (const Operand& operand : call.operands) {
    if (operand.kind == Operand::Kind::kName) return operand.name;
  }
  return {};
}

// Who calls whom. Node 0 stands for whatever a pointer may hold, the others for functions.
class Graph {
 public:
  Graph(const Syntax& syntax, const ModuleNames& names) : names_(names), callees_(1) {
    for (const Variable& variable : syntax.variables) {
      for (const Initialiser& value : variable.initialisers) AddPointer(value.symbol);
    }
    for (const Function& function : syntax.functions) {
      const int caller = NodeOf(function);
      for (const Statement& statement : function.body) Scan(caller, statement);
    }
  }

  int NodeOf(const Function& function) {
    const auto [entry, added] = nodes_.insert({&function, static_cast<int>(callees_.size())});
    if (added) callees_.emplace_back();
    return entry->second;
  }

  // By node: whether it reaches itself. Tarjan's strongly connected components, without recursion.
  std::vector<bool> OnCycles() const {
    Search search(callees_.size());
    for (size_t root = 0; root < callees_.size(); ++root) {
      if (search.number[root] < 0) Visit(static_cast<int>(root), search);
    }
    return search.on_cycle;
  }

 private:
  struct Search {
    explicit Search(size_t nodes)
        : number(nodes, -1), lowest(nodes), open(nodes), on_cycle(nodes) {}
    std::vector<int> number;  // in the order of the visits; -1: not yet
    std::vector<int> lowest;  // the first one that is known to be reached
    std::vector<bool> open;   // its component is not complete
    std::vector<bool> on_cycle;
    std::vector<int> component;                // open nodes
    std::vector<std::pair<int, size_t>> path;  // nodes with their next callee
    int visited = 0;
    void Open(int node) {
      number[node] = lowest[node] = visited++;
      open[node] = true;
      component.push_back(node);
      path.push_back({node, 0});
    }
  };

  void Visit(int root, Search& search) const {
    search.Open(root);
    while (!search.path.empty()) {
      auto& [node, next] = search.path.back();
      if (next == callees_[node].size()) {
        Leave(search);
        continue;
      }
      const int callee = callees_[node][next++];
      if (callee == node) search.on_cycle[node] = true;
      if (search.number[callee] < 0) {
        search.Open(callee);
      } else if (search.open[callee]) {
        search.lowest[node] = std::min(search.lowest[node], search.number[callee]);
      }
    }
  }

  static void Leave(Search& search) {
    const int node = search.path.back().first;
    search.path.pop_back();
    if (!search.path.empty()) {
      int& above = search.lowest[search.path.back().first];
      above = std::min(above, search.lowest[node]);
    }
    if (search.lowest[node] != search.number[node]) return;
    const bool alone = search.component.back() == node;
    for (int last = -1; last != node;) {
      last = search.component.back();
      search.component.pop_back();
      search.open[last] = false;
      if (!alone) search.on_cycle[last] = true;
    }
  }

  const Function* Find(std::string_view name) const {
    const auto found = names_.functions.find(View(name));
    return found == names_.functions.end() || !found->second->has_body ? nullptr : found->second;
  }

  void AddPointer(std::string_view name) {
    const Function* function = Find(name);
    if (function == nullptr) return;
    const int node = NodeOf(*function);
    callees_[0].push_back(node);
  }

  void Scan(int caller, const Statement& statement) {
    if (IsCall(statement.name)) {
      const Function* callee = Find(TargetOf(statement));
      const int node = callee == nullptr ? 0 : NodeOf(*callee);
      callees_[caller].push_back(node);
      return;
    }
    for (const Operand& operand : statement.operands) AddPointer(operand.name);
  }

  const ModuleNames& names_;
  absl::flat_hash_map<const Function*, int> nodes_;
  std::vector<std::vector<int>> callees_;
};

}  // namespace

absl::flat_hash_set<const Function*> RecursiveFunctions(const Syntax& syntax,
                                                        const ModuleNames& names) {
  Graph graph(syntax, names);
  const std::vector<bool> on_cycles = graph.OnCycles();
  absl::flat_hash_set<const Function*> recursive;
  for (const Function& function : syntax.functions) {
    if (function.has_body && !function.entry && on_cycles[graph.NodeOf(function)]) {
      recursive.insert(&function);
    }
  }
  return recursive;
}

}  // namespace onepass::sim
