// The operators and functions of pointwise expressions: one table for the parser and the printer.
#pragma once

#include "absl/strings/string_view.h"

namespace onepass {

// Left-associative levels, loosest first. A longer operator stands before one that it begins with.
inline constexpr int kBinaryLevelCount = 3;
inline constexpr absl::string_view kBinaryLevels[kBinaryLevelCount][6] = {
    {"<=", ">=", "==", "!=", "<", ">"},
    {"+", "-"},
    {"*", "/"},
};

struct ExpressionFunction {
  absl::string_view name;
  int arguments;
};

inline constexpr ExpressionFunction kFunctions[] = {
    {"where", 3}, {"min", 2},   {"max", 2},  {"abs", 1},   {"exp", 1},  {"log", 1},
    {"log1p", 1}, {"expm1", 1}, {"sqrt", 1}, {"rsqrt", 1}, {"tanh", 1}, {"sigmoid", 1},
    {"erf", 1},   {"sin", 1},   {"cos", 1},  {"floor", 1},
};

inline const ExpressionFunction* FindFunction(absl::string_view name) {
  for (const ExpressionFunction& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

}  // namespace onepass
