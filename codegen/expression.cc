#include "codegen/expression.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "codegen/expression_grammar.h"

namespace onepass {

namespace {

constexpr int kMaxLevels = 200;
constexpr int kMaxNodes = 2000;

// Recursive descent; every Parse function leaves `at_` behind what it has read.
class ExpressionParser {
 public:
  explicit ExpressionParser(absl::string_view text) : text_(text) {}

  absl::StatusOr<Expression> Parse() {
    absl::StatusOr<Expression> tree = ParseBinary(0);
    if (!tree.ok()) return tree;
    if (SkipSpace(); at_ < text_.size()) return Unexpected("an operator or the end");
    return tree;
  }

 private:
  // Left-associative levels of kBinaryLevels, from comparisons down to products.
  absl::StatusOr<Expression> ParseBinary(int level) {
    if (level == kBinaryLevelCount) return ParseUnary();
    absl::StatusOr<Expression> left = ParseBinary(level + 1);
    while (left.ok()) {
      const absl::string_view op = TakeOperator(level);
      if (op.empty()) break;
      absl::StatusOr<Expression> right = ParseBinary(level + 1);
      if (!right.ok()) return right;
      left = Node({Expression::Kind::kBinary, 0, std::string(op), {}}, *std::move(left),
                  *std::move(right));
    }
    return left;
  }

  absl::StatusOr<Expression> ParseUnary() {
    if (++level_ > kMaxLevels) return Error(absl::StrCat("nested deeper than ", kMaxLevels));
    absl::StatusOr<Expression> result = Take("-") ? ParseNegated() : ParsePower();
    --level_;
    return result;
  }

  absl::StatusOr<Expression> ParseNegated() {
    absl::StatusOr<Expression> operand = ParseUnary();
    if (!operand.ok()) return operand;
    return Node({Expression::Kind::kUnary, 0, "-", {}}, *std::move(operand));
  }

  // Binds tighter than a minus before it and takes a minus after it: -x^-2 is -(x^(-2)).
  absl::StatusOr<Expression> ParsePower() {
    absl::StatusOr<Expression> base = ParsePrimary();
    if (!base.ok() || !Take("^")) return base;
    absl::StatusOr<Expression> exponent = ParseUnary();
    if (!exponent.ok()) return exponent;
    return Node({Expression::Kind::kBinary, 0, "^", {}}, *std::move(base), *std::move(exponent));
  }

  absl::StatusOr<Expression> ParsePrimary() {
    SkipSpace();
    if (at_ == text_.size()) return Unexpected("a value");
    if (Take("(")) return ParseParenthesised();
    const char c = text_[at_];
    if (absl::ascii_isdigit(c) || c == '.') return ParseNumberToken();
    if (absl::ascii_isalpha(c)) return ParseName();
    return Unexpected("a value");
  }

  absl::StatusOr<Expression> ParseParenthesised() {
    absl::StatusOr<Expression> inner = ParseBinary(0);
    if (inner.ok() && !Take(")")) return Unexpected("')'");
    return inner;
  }

  absl::StatusOr<Expression> ParseNumberToken() {
    Expression node;
    const char* begin = text_.data() + at_;
    const auto [stop, error] = std::from_chars(begin, text_.data() + text_.size(), node.number);
    if (error == std::errc::result_out_of_range) return Error("the number does not fit a double");
    if (error != std::errc()) return Unexpected("a number");
    at_ += stop - begin;
    return Node(std::move(node));
  }

  absl::StatusOr<Expression> ParseName() {
    const size_t begin = at_;
    while (at_ < text_.size() && (absl::ascii_isalnum(text_[at_]) || text_[at_] == '_')) ++at_;
    const absl::string_view name = text_.substr(begin, at_ - begin);
    if (name == "x" || name == "a" || name == "b" || name == "c") {
      return Node({Expression::Kind::kInput, 0, std::string(name), {}});
    }
    const ExpressionFunction* function = FindFunction(name);
    if (function == nullptr) {
      at_ = begin;
      return Error(absl::StrCat("\"", name, "\" is neither an input nor a function"));
    }
    return ParseCall(*function);
  }

  absl::StatusOr<Expression> ParseCall(const ExpressionFunction& function) {
    Expression node{Expression::Kind::kCall, 0, std::string(function.name), {}};
    if (!Take("(")) return Unexpected("'('");
    for (int i = 0; i < function.arguments; ++i) {
      if (i > 0 && !Take(",")) return WrongArguments(function);
      absl::StatusOr<Expression> argument = ParseBinary(0);
      if (!argument.ok()) return argument;
      node.children.push_back(*std::move(argument));
    }
    if (!Take(")")) return WrongArguments(function);
    return Node(std::move(node));
  }

  template <typename... Children>
  absl::StatusOr<Expression> Node(Expression node, Children... children) {
    if (++nodes_ > kMaxNodes) return Error(absl::StrCat("longer than ", kMaxNodes, " terms"));
    (node.children.push_back(std::move(children)), ...);
    return node;
  }

  void SkipSpace() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }

  bool Take(absl::string_view token) {
    SkipSpace();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }

  absl::string_view TakeOperator(int level) {
    for (absl::string_view op : kBinaryLevels[level]) {
      if (!op.empty() && Take(op)) return op;
    }
    return "";
  }

  absl::Status WrongArguments(const ExpressionFunction& function) {
    SkipSpace();
    return Error(absl::StrCat(function.name, " takes ", function.arguments, " argument",
                              function.arguments == 1 ? "" : "s"));
  }

  absl::Status Unexpected(absl::string_view wanted) {
    SkipSpace();
    const std::string found =
        at_ < text_.size() ? absl::StrCat("'", text_.substr(at_, 1), "'") : "the end";
    return Error(absl::StrCat(wanted, " was expected, not ", found));
  }

  absl::Status Error(absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat("expr: column ", at_ + 1, ": ", what));
  }

  absl::string_view text_;
  size_t at_ = 0;
  int level_ = 0;
  int nodes_ = 0;
};

}  // namespace

absl::StatusOr<Expression> ParseExpression(absl::string_view text) {
  return ExpressionParser(text).Parse();
}

bool UsesInput(const Expression& expression, char name) {
  if (expression.kind == Expression::Kind::kInput) return expression.name[0] == name;
  return std::any_of(expression.children.begin(), expression.children.end(),
                     [&](const Expression& child) { return UsesInput(child, name); });
}

}  // namespace onepass
