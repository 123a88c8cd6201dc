// Expression: a parsed pointwise formula, e.g. "x*sigmoid(1.702*x)".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace onepass {

// A node; children are owned by the node. Immutable once parsed.
struct Expression {
  enum class Kind { kNumber, kInput, kUnary, kBinary, kCall };
  Kind kind = Kind::kNumber;
  double number = 0;  // kNumber
  // kInput: "x", "a"...; kUnary "-"; kBinary "+", "<="...; kCall: "exp", "where"...
  std::string name;
  std::vector<Expression> children;
  bool operator==(const Expression&) const = default;
};

// Numbers, inputs x a b c, + - * / ^, comparisons, where, min, max, abs, exp, log, log1p, expm1,
// sqrt, rsqrt, tanh, sigmoid, erf, sin, cos, floor. `^` binds tightest and to the right, then
// minus, products, sums, comparisons. Errors are kInvalidArgument and point at the column. At most
// 200 levels of nesting and 2000 nodes.
absl::StatusOr<Expression> ParseExpression(absl::string_view text);
// Printed with the fewest parentheses; parses back to an equal tree.
std::string ToString(const Expression& expression);
// Whether the formula reads the input 'x', 'a', 'b' or 'c'.
bool UsesInput(const Expression& expression, char name);

}  // namespace onepass
