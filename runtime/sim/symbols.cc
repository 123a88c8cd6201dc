#include "runtime/sim/symbols.h"

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"

namespace onepass::sim {
namespace {

absl::string_view View(std::string_view text) { return {text.data(), text.size()}; }

// "v.y" of a vector register: the index behind the dot, or -1.
int ComponentOf(std::string_view name) {
  if (name.size() < 3 || name[name.size() - 2] != '.') return -1;
  const size_t xyzw = std::string_view("xyzw").find(name.back());
  const size_t rgba = std::string_view("rgba").find(name.back());
  return static_cast<int>(xyzw != std::string_view::npos   ? xyzw
                          : rgba != std::string_view::npos ? rgba
                                                           : -1);
}

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
  if (FindWhole(name, symbol)) return true;
  const int component = ComponentOf(name);
  if (component < 0 || !FindWhole(name.substr(0, name.size() - 2), symbol)) return false;
  if (symbol.kind != Symbol::Kind::kRegister || component >= symbol.vector) return false;
  symbol.value += component;
  symbol.vector = 1;
  return true;
}

bool Scopes::FindWhole(std::string_view name, Symbol& symbol) const {
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
