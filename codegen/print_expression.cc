#include "absl/strings/str_cat.h"
#include "codegen/expression.h"
#include "codegen/expression_grammar.h"
#include "codegen/number_text.h"

namespace onepass {

namespace {

// How tightly a node holds together: comparisons, sums, products, minus, power, atoms.
constexpr int kMinusLevel = kBinaryLevelCount;
constexpr int kPowerLevel = kMinusLevel + 1;
constexpr int kAtomLevel = kPowerLevel + 1;

int LevelOf(const Expression& node) {
  if (node.kind == Expression::Kind::kUnary) return kMinusLevel;
  if (node.kind != Expression::Kind::kBinary) return kAtomLevel;
  for (int level = 0; level < kBinaryLevelCount; ++level) {
    for (absl::string_view op : kBinaryLevels[level]) {
      if (op == node.name) return level;
    }
  }
  return kPowerLevel;
}

void Append(const Expression& node, std::string& text);

// `least` is the loosest level that needs no parentheses here.
void AppendOperand(const Expression& node, int least, std::string& text) {
  const bool bare = LevelOf(node) >= least;
  if (!bare) text += '(';
  Append(node, text);
  if (!bare) text += ')';
}

void AppendBinary(const Expression& node, std::string& text) {
  const int level = LevelOf(node);
  const bool power = level == kPowerLevel;
  AppendOperand(node.children[0], power ? kAtomLevel : level, text);
  text += node.name;
  AppendOperand(node.children[1], power ? kMinusLevel : level + 1, text);
}

void AppendCall(const Expression& node, std::string& text) {
  absl::StrAppend(&text, node.name, "(");
  for (size_t i = 0; i < node.children.size(); ++i) {
    if (i > 0) text += ',';
    Append(node.children[i], text);
  }
  text += ')';
}

void Append(const Expression& node, std::string& text) {
  switch (node.kind) {
    case Expression::Kind::kNumber:
      text += PrintNumber(node.number);
      return;
    case Expression::Kind::kInput:
      text += node.name;
      return;
    case Expression::Kind::kUnary:
      text += '-';
      return AppendOperand(node.children[0], kMinusLevel, text);
    case Expression::Kind::kBinary:
      return AppendBinary(node, text);
    case Expression::Kind::kCall:
      return AppendCall(node, text);
  }
}

}  // namespace

std::string ToString(const Expression& expression) {
  std::string text;
  Append(expression, text);
  return text;
}

}  // namespace onepass
