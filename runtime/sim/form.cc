#include "runtime/sim/form.h"

#include <algorithm>

namespace onepass::sim {

Form::Form(std::string_view name) {
  size_t dot = name.find('.');
  base_ = name.substr(0, dot);
  while (dot != std::string_view::npos) {
    const size_t next = name.find('.', dot + 1);
    modifiers_.push_back(name.substr(dot + 1, next - dot - 1));
    dot = next;
  }
}

bool Form::Take(std::string_view modifier) {
  auto* found = std::find(modifiers_.begin(), modifiers_.end(), modifier);
  if (found == modifiers_.end()) return false;
  modifiers_.erase(found);
  return true;
}

bool Form::Has(std::string_view modifier) const {
  return std::find(modifiers_.begin(), modifiers_.end(), modifier) != modifiers_.end();
}

std::optional<Type> Form::TakeType() {
  for (auto* at = modifiers_.begin(); at != modifiers_.end(); ++at) {
    if (const auto type = TypeNamed(*at)) {
      modifiers_.erase(at);
      return type;
    }
  }
  return std::nullopt;
}

}  // namespace onepass::sim
