#include "codegen/expression.h"

#include <random>
#include <string>

#include "codegen/expression_grammar.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

using ::testing::HasSubstr;

std::string Printed(const std::string& text) {
  const absl::StatusOr<Expression> expression = ParseExpression(text);
  return expression.ok() ? ToString(*expression) : std::string(expression.status().message());
}

struct Formula {
  const char* given;
  const char* printed;
};

constexpr Formula kFormulas[] = {
    {" x * sigmoid( 1.702 * x ) ", "x*sigmoid(1.702*x)"},
    {"(x+a)+b", "x+a+b"},
    {"x+(a+b)", "x+(a+b)"},
    {"x-(a-b)", "x-(a-b)"},
    {"(x*a)/b", "x*a/b"},
    {"x*(a/b)", "x*(a/b)"},
    {"(x+a)*b", "(x+a)*b"},
    {"x+(a*b)", "x+a*b"},
    {"-x^2", "-x^2"},
    {"(-x)^2", "(-x)^2"},
    {"x^(a^b)", "x^a^b"},
    {"(x^a)^b", "(x^a)^b"},
    {"x^-2", "x^-2"},
    {"x^(-a^2)", "x^-a^2"},
    {"-(x*a)", "-(x*a)"},
    {"-x*a", "-x*a"},
    {"x*(-a)", "x*-a"},
    {"x-(-a)", "x--a"},
    {"--x", "--x"},
    {"x<=a", "x<=a"},
    {"(x<a)<b", "x<a<b"},
    {"x<(a<b)", "x<(a<b)"},
    {"(x==a)+1", "(x==a)+1"},
    {"where(x>0,x,0.01*x)", "where(x>0,x,0.01*x)"},
    {"min(max(x,0),6)", "min(max(x,0),6)"},
    {"1e-05*.5", "1e-5*0.5"},
    {"exp(-(x-a))", "exp(-(x-a))"},
};

TEST(ExpressionTest, PrintsWithTheFewestParentheses) {
  for (const Formula& each : kFormulas) EXPECT_EQ(Printed(each.given), each.printed);
}

TEST(ExpressionTest, PrintedTextParsesToAnEqualTree) {
  for (const Formula& each : kFormulas) {
    EXPECT_EQ(*ParseExpression(each.given), *ParseExpression(each.printed)) << each.given;
  }
}

// A random tree of at most `levels` levels.
Expression RandomTree(std::mt19937& random, int levels) {
  using Kind = Expression::Kind;
  const int kind = levels == 0 ? random() % 2 : random() % 5;
  if (kind == 0) return {Kind::kNumber, static_cast<double>(random() % 1000) / 64, "", {}};
  if (kind == 1) return {Kind::kInput, 0, std::string(1, "xabc"[random() % 4]), {}};
  if (kind == 2) return {Kind::kUnary, 0, "-", {RandomTree(random, levels - 1)}};
  Expression tree;
  int children = 2;
  if (kind == 3) {
    constexpr const char* kOperators[] = {"+",  "-", "*",  "/",  "^", "<",
                                          "<=", ">", ">=", "==", "!="};
    tree = {Kind::kBinary, 0, kOperators[random() % 11], {}};
  } else {
    const ExpressionFunction& function = kFunctions[random() % std::size(kFunctions)];
    tree = {Kind::kCall, 0, std::string(function.name), {}};
    children = function.arguments;
  }
  for (int i = 0; i < children; ++i) tree.children.push_back(RandomTree(random, levels - 1));
  return tree;
}

TEST(ExpressionTest, AnyTreeSurvivesPrinting) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const Expression tree = RandomTree(random, 5);
    const absl::StatusOr<Expression> again = ParseExpression(ToString(tree));
    ASSERT_TRUE(again.ok()) << ToString(tree) << ": " << again.status();
    ASSERT_EQ(*again, tree) << ToString(tree);
  }
}

constexpr Formula kMistakes[] = {
    {"", "column 1: a value was expected, not the end"},
    {"x+", "column 3: a value was expected, not the end"},
    {"x y", "column 3: an operator or the end was expected, not 'y'"},
    {"(x", "column 3: ')' was expected, not the end"},
    {"x)", "column 2: an operator or the end was expected, not ')'"},
    {"foo(x)", "column 1: \"foo\" is neither an input nor a function"},
    {"x+y", "column 3: \"y\" is neither an input nor a function"},
    {"exp x", "column 5: '(' was expected, not 'x'"},
    {"exp(x,a)", "column 6: exp takes 1 argument"},
    {"min(x)", "column 6: min takes 2 arguments"},
    {"1e999", "column 1: the number does not fit a double"},
    {"x;", "column 2"},
    {"x=a", "column 2"},
};

TEST(ExpressionTest, MistakesPointAtTheColumn) {
  for (const Formula& each : kMistakes) {
    EXPECT_FALSE(ParseExpression(each.given).ok()) << each.given;
    EXPECT_THAT(Printed(each.given), HasSubstr(each.printed));
  }
}

TEST(ExpressionTest, DepthAndLengthAreLimited) {
  EXPECT_TRUE(ParseExpression(std::string(150, '(') + "x" + std::string(150, ')')).ok());
  EXPECT_THAT(Printed(std::string(100000, '(') + "x"), HasSubstr("nested deeper than 200"));
  EXPECT_THAT(Printed(std::string(100000, '-') + "x"), HasSubstr("nested deeper than 200"));
  std::string sum = "x";
  for (int i = 0; i < 5000; ++i) sum += "+x";
  EXPECT_THAT(Printed(sum), HasSubstr("longer than 2000 terms"));
}

TEST(ExpressionTest, KnowsWhichInputsItReads) {
  const Expression expression = *ParseExpression("x*where(b>0,1,2)");
  EXPECT_TRUE(UsesInput(expression, 'x'));
  EXPECT_TRUE(UsesInput(expression, 'b'));
  EXPECT_FALSE(UsesInput(expression, 'a'));
}

}  // namespace
}  // namespace onepass
