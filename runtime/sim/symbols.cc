#include "runtime/sim/symbols.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace onepass::sim {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

bool Scopes::FindIn(const Scope& scope, std::string_view name, std::string_view prefix, int index,
                    Symbol& symbol) {
  const auto exact = scope.names.find(View(name));
  if (exact != scope.names.end() && exact->second.kind != Symbol::Kind::kRegisterFamily) {
    symbol = exact->second;
    return true;
  }
  if (index < 0) return false;
  const auto family = scope.names.find(View(prefix));
  if (family == scope.names.end() || family->second.kind != Symbol::Kind::kRegisterFamily ||
      index >= family->second.count) {
    return false;
  }
  symbol = {Symbol::Kind::kRegister, family->second.value + index * family->second.vector,
            family->second.vector, 0};
  return true;
}

bool Scopes::Find(std::string_view name, Symbol& symbol) const {
  std::string_view prefix = name;
  while (!prefix.empty() && absl::ascii_isdigit(prefix.back())) prefix.remove_suffix(1);
  int index = -1;
  const std::string_view digits = name.substr(prefix.size());
  const bool canonical = digits.size() == 1 || (!digits.empty() && digits[0] != '0');
  if (!canonical || !absl::SimpleAtoi(View(digits), &index)) index = -1;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (FindIn(*scope, name, prefix, index, symbol)) return true;
    if (scope->function) break;
  }
  return FindIn(scopes_.front(), name, prefix, index, symbol);
}

}  // namespace onepass::sim
