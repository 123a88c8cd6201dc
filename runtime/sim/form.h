// The name of an instruction, taken apart: "ld.global.nc.v4.f32".
#pragma once

#include <optional>
#include <string_view>

#include "llvm/ADT/SmallVector.h"
#include "runtime/sim/type.h"

namespace onepass::sim {

// A selector takes the modifiers that it understands. What is left over makes the form unknown.
class Form {
 public:
  explicit Form(std::string_view name);

  std::string_view base() const { return base_; }
  // Removes the modifier; whether it was there.
  bool Take(std::string_view modifier);
  // Removes and returns the first modifier that is a type.
  std::optional<Type> TakeType();
  bool Has(std::string_view modifier) const;
  bool empty() const { return modifiers_.empty(); }

 private:
  std::string_view base_;
  llvm::SmallVector<std::string_view, 8> modifiers_;
};

}  // namespace onepass::sim
