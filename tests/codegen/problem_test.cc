#include "codegen/problem.h"

#include <clocale>
#include <fstream>
#include <locale>
#include <string>

#include "codegen/operators.h"
#include "codegen/problem_words.h"
#include "codegen/validate.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Canonical(const std::string& line) {
  const absl::StatusOr<Problem> problem = ParseProblem(line);
  return problem.ok() ? ToString(*problem) : std::string(problem.status().message());
}

struct Spelling {
  const char* given;
  const char* canonical;
};

constexpr Spelling kSpellings[] = {
    // The examples of the contract are canonical.
    {"batch_norm.train f16 32x64x56x56:nhwc residual act=relu",
     "batch_norm.train f16 32x64x56x56:nhwc residual act=relu"},
    {"layer_norm.grad bf16 8192x4096", "layer_norm.grad bf16 8192x4096"},
    {"max_pool.fwd f32 1x64x112x112 window=3x3 stride=2x2 pad=1x1",
     "max_pool.fwd f32 1x64x112x112 window=3x3 stride=2x2 pad=1x1"},
    {"gelu_tanh.fwd bf16 4096x11008", "pointwise.fwd bf16 4096x11008 act=gelu_tanh"},
    {"batch_norm.infer f16 1x64x112x112:nhwc act=relu | max_pool.fwd window=3x3 stride=2x2 pad=1x1",
     "batch_norm.infer f16 1x64x112x112:nhwc act=relu | max_pool.fwd window=3x3 stride=2x2 "
     "pad=1x1"},
    // Layouts and spaces.
    {"batch_norm.infer f32 2x3x4:nchw", "batch_norm.infer f32 2x3x4"},
    {"  relu.fwd\tf32   8  ", "pointwise.fwd f32 8 act=relu"},
    {"relu.fwd f32 2x3|relu.fwd", "pointwise.fwd f32 2x3 act=relu | pointwise.fwd act=relu"},
    {"pointwise.fwd f32 1", "pointwise.fwd f32 1"},
    // Numbers.
    {"batch_norm.infer f32 2x3 eps=1e-05", "batch_norm.infer f32 2x3"},
    {"batch_norm.infer f32 2x3 eps=0.000001", "batch_norm.infer f32 2x3 eps=1e-6"},
    {"batch_norm.infer f32 2x3 eps=0.0010", "batch_norm.infer f32 2x3 eps=0.001"},
    {"batch_norm.train f32 2x3 momentum=1e-1", "batch_norm.train f32 2x3"},
    {"batch_norm.train f32 2x3 momentum=-1.2", "batch_norm.train f32 2x3 momentum=-1.2"},
    {"batch_norm.train f32 2x3 momentum=cumulative:7",
     "batch_norm.train f32 2x3 momentum=cumulative:7"},
    // Order, defaults.
    {"batch_norm.train f16 2x3 align=2 inplace act=relu residual affine=scale running_var=biased "
     "momentum=0.2 eps=0 param=f16",
     "batch_norm.train f16 2x3 param=f16 eps=0 momentum=0.2 running_var=biased affine=scale "
     "residual act=relu inplace align=2"},
    {"rms_norm.fwd f16 2x8 affine=scale axes=1", "rms_norm.fwd f16 2x8"},
    {"rms_norm.fwd f16 2x8 affine=both", "rms_norm.fwd f16 2x8 affine=both"},
    {"layer_norm.fwd f16 2x8 affine=both", "layer_norm.fwd f16 2x8"},
    {"rms_norm.fwd f64 2x8 param=f64", "rms_norm.fwd f64 2x8"},
    {"rms_norm.fwd f64 2x8 param=f32", "rms_norm.fwd f64 2x8 param=f32"},
    {"group_norm.grad f32 2x8x4 recompute skip groups=4",
     "group_norm.grad f32 2x8x4 groups=4 recompute skip"},
    {"batch_norm.grad f32 2x3 stats=fixed", "batch_norm.grad f32 2x3 stats=fixed"},
    // Strides.
    {"pointwise.fwd f32 4x5 strides=5,1", "pointwise.fwd f32 4x5"},
    {"pointwise.fwd f32 4x5 strides=1,4", "pointwise.fwd f32 4x5 strides=1,4"},
    {"relu.grad f32 4x5 dy_strides=0,0", "pointwise.grad f32 4x5 dy_strides=0,0 act=relu"},
    // Activations.
    {"silu.grad f32 8", "pointwise.grad f32 8 act=swish"},
    {"identity.fwd f32 8", "pointwise.fwd f32 8"},
    {"pointwise.fwd f32 8 act=leaky_relu:0.01", "pointwise.fwd f32 8 act=leaky_relu"},
    {"pointwise.fwd f32 8 act=leaky_relu:0.2", "pointwise.fwd f32 8 act=leaky_relu:0.2"},
    {"pointwise.fwd f32 8 act=hardsigmoid:1/6:1/2", "pointwise.fwd f32 8 act=hardsigmoid"},
    {"pointwise.fwd f32 8 act=softplus:1:10", "pointwise.fwd f32 8 act=softplus:1:10"},
    {"pointwise.fwd f32 8 act=softplus:2:20", "pointwise.fwd f32 8 act=softplus:2"},
    {"pointwise.fwd f32 8 act=clip:-1:1.0", "pointwise.fwd f32 8 act=clip:-1:1"},
    // Expressions.
    {"pointwise.fwd f32 8 expr=\"x * sigmoid( 1.7020*x )\"",
     "pointwise.fwd f32 8 expr=\"x*sigmoid(1.702*x)\""},
    {"pointwise.fwd f32 8 expr=x+1", "pointwise.fwd f32 8 expr=\"x+1\""},
    {"pointwise.fwd f32 2x64x8x8 b=64x1x1 a=2x64x8x8 expr=\"x+a*b\"",
     "pointwise.fwd f32 2x64x8x8 expr=\"x+a*b\" a b=64x1x1"},
    // Pools.
    {"max_pool.fwd f32 1x1x9x9 window=3x3 stride=3x3 pad=0,0:0,0 dilation=1x1",
     "max_pool.fwd f32 1x1x9x9 window=3x3"},
    {"avg_pool.fwd f32 1x1x9x9 count=include window=3x3 pad=1,1:1,1",
     "avg_pool.fwd f32 1x1x9x9 window=3x3 pad=1x1"},
    {"avg_pool.grad f32 1x1x9x9 divisor=7 ceil count=exclude window=3x3 pad=0,1:1,0",
     "avg_pool.grad f32 1x1x9x9 window=3x3 pad=0,1:1,0 ceil count=exclude divisor=7"},
    {"lp_pool.fwd f32 1x1x9 p=2.0 window=3", "lp_pool.fwd f32 1x1x9 window=3"},
    {"lp_pool.fwd f32 1x1x9 p=3 window=3", "lp_pool.fwd f32 1x1x9 window=3 p=3"},
    {"max_pool.fwd f32 1x1x9 indices window=3", "max_pool.fwd f32 1x1x9 window=3 indices"},
    {"global_avg_pool.fwd f16 2x3x7x5:nhwc", "avg_pool.fwd f16 2x3x7x5:nhwc window=7x5"},
    {"global_max_pool.grad f16 2x3x7", "max_pool.grad f16 2x3x7 window=7"},
    // A later stage's sizes are the output of the one before.
    {"max_pool.fwd f32 1x2x8x8 window=2x2 | global_avg_pool.fwd",
     "max_pool.fwd f32 1x2x8x8 window=2x2 | avg_pool.fwd window=4x4"},
};

TEST(ProblemTest, PrintsTheCanonicalForm) {
  for (const Spelling& each : kSpellings) EXPECT_EQ(Canonical(each.given), each.canonical);
}

TEST(ProblemTest, CanonicalFormParsesToAnEqualProblem) {
  for (const Spelling& each : kSpellings) {
    const absl::StatusOr<Problem> given = ParseProblem(each.given);
    const absl::StatusOr<Problem> again = ParseProblem(each.canonical);
    ASSERT_TRUE(given.ok() && again.ok()) << each.given;
    EXPECT_EQ(*given, *again) << each.given;
    EXPECT_EQ(Canonical(each.canonical), each.canonical);
  }
}

TEST(ProblemTest, EveryCaseIsValidAndRoundTrips) {
  std::ifstream cases(ONEPASS_SOURCE_DIR "/tests/cases/problems.txt");
  int lines = 0;
  for (std::string line; std::getline(cases, line);) {
    if (line.empty() || line[0] == '#') continue;
    const absl::StatusOr<Problem> problem = ParseProblem(line);
    ASSERT_TRUE(problem.ok()) << line << ": " << problem.status();
    EXPECT_TRUE(Validate(*problem).ok()) << line << ": " << Validate(*problem);
    const std::string canonical = ToString(*problem);
    const absl::StatusOr<Problem> again = ParseProblem(canonical);
    ASSERT_TRUE(again.ok()) << canonical;
    EXPECT_EQ(*again, *problem) << canonical;
    EXPECT_EQ(ToString(*again), canonical);
    ++lines;
  }
  EXPECT_GE(lines, 150);
}

TEST(ProblemTest, EveryOperatorParsesByItsName) {
  for (absl::string_view name : kOperatorNames) {
    const OpSet pools = kPools;
    std::string line(name);
    line += " f32 2x4x8x8";
    const absl::StatusOr<Problem> problem = ParseProblem(line);
    ASSERT_TRUE(problem.ok()) << line;
    EXPECT_EQ(ToString(problem->op), name);
    EXPECT_EQ(IsPool(problem->op), (pools & BitOf(problem->op)) != 0);
    EXPECT_EQ(IsGrad(problem->op), name.substr(name.find('.')) == ".grad");
  }
}

TEST(ProblemTest, EveryActivationIsAnOperatorByItsName) {
  for (const ActivationRow& row : Activations()) {
    const std::string name(row.name);
    const absl::StatusOr<Problem> problem = ParseProblem(name + ".fwd f32 8");
    ASSERT_EQ(problem.ok(), row.required == 0) << name;
    if (problem.ok()) {
      EXPECT_EQ(problem->act.kind, row.kind);
    }
  }
}

struct Mistake {
  const char* line;
  const char* message;  // a part of it
};

constexpr Mistake kMistakes[] = {
    {"", "problem: the line is empty"},
    {"foo.fwd f32 3", "op: \"foo.fwd\" is not an operator"},
    {"relu f32 3", "op: \"relu\" is not an operator"},
    {"batch_norm.fwd f32 3x4", "op: \"batch_norm.fwd\" is not an operator"},
    {"pointwise.fwd f32", "OP DTYPE DIMS is the least"},
    {"pointwise.fwd f8 3", "dtype: \"f8\" is not f32, f16, bf16 or f64"},
    {"pointwise.fwd i64 3", "dtype: \"i64\""},
    {"pointwise.fwd f32 3xx4", "dims: \"3xx4\" is not whole numbers"},
    {"pointwise.fwd f32 3.5", "dims: \"3.5\""},
    {"pointwise.fwd f32 99999999999999999999", "dims: \"99999999999999999999\""},
    {"pointwise.fwd f32 3x4:chw", "layout: \"chw\" is neither nchw nor nhwc"},
    {"batch_norm.infer f32 2x3 eps=abc", "eps: \"abc\" is not a number"},
    {"batch_norm.infer f32 2x3 eps=1,5", "eps: \"1,5\" is not a number"},
    {"batch_norm.infer f32 2x3 eps=", "eps: the value is empty"},
    {"batch_norm.infer f32 2x3 eps", "eps: needs a value"},
    {"batch_norm.infer f32 2x3 eps=1 eps=1", "eps: is given twice"},
    {"batch_norm.infer f32 2x3 residual residual", "residual: is given twice"},
    {"batch_norm.infer f32 2x3 residual=1", "residual: takes no value"},
    {"batch_norm.infer f32 2x3 window=2", "window: batch_norm.infer does not take it"},
    {"batch_norm.infer f32 2x3 momentum=0.1", "momentum: batch_norm.infer does not take it"},
    {"batch_norm.infer f32 2x3 skip", "skip: batch_norm.infer does not take it"},
    {"max_pool.fwd f32 1x2x3 window=2 eps=1", "eps: max_pool.fwd does not take it"},
    {"max_pool.fwd f32 1x2x3 window=2 count=exclude", "count: max_pool.fwd does not take it"},
    {"batch_norm.infer f32 2x3 frobnicate", "frobnicate: is not a flag or key"},
    {"batch_norm.infer f32 2x3 frobnicate=3", "frobnicate: is not a flag or key"},
    {"batch_norm.infer f32 2x3 affine=all", "affine: \"all\" is not both or scale or bias or none"},
    {"batch_norm.train f32 2x3 momentum=cumulative:-1", "momentum: \"cumulative:-1\""},
    {"pointwise.fwd f32 2x3 act=rleu", "act: \"rleu\" is not an activation"},
    {"pointwise.fwd f32 2x3 act=clip:1", "act: \"clip:1\" has 1 constants, clip takes 2"},
    {"pointwise.fwd f32 2x3 act=relu:1", "act: \"relu:1\""},
    {"pointwise.fwd f32 2x3 act=elu:z", "act: \"z\" is not a number"},
    {"relu.fwd f32 2x3 act=tanh", "act: is given twice"},
    {"global_max_pool.fwd f32 2x3x4 window=2", "window: is given twice"},
    {"pointwise.fwd f32 2x3 expr=\"x+\"", "expr: column 3: a value was expected"},
    {"pointwise.fwd f32 2x3 expr=\"x", "the quote at column 23 is not closed"},
    {"pointwise.fwd f32 2x3 expr=\"x\"+1", "expr: \"x\"+1 is not quoted as a whole"},
    {"max_pool.fwd f32 1x1x4 window=2 pad=1,1,1", "pad: \"1,1,1\" is not a begin and an end"},
    {"avg_pool.fwd f32 1x1x4 window=2 divisor=0", "divisor: \"0\" is not a divisor"},
    {"pointwise.fwd f32 2x3 |", "stage 2 is empty"},
    {"pointwise.fwd f32 2x3 | pointwise.fwd f32", "stage 2: f32: is not a flag or key"},
    {"pointwise.fwd f32 2x3 | relu.fwd inplace", "stage 2: inplace: belongs to the first stage"},
};

TEST(ProblemTest, MistakesAreNamed) {
  for (const Mistake& each : kMistakes) {
    const absl::StatusOr<Problem> problem = ParseProblem(each.line);
    EXPECT_EQ(problem.status().code(), absl::StatusCode::kInvalidArgument) << each.line;
    EXPECT_THAT(std::string(problem.status().message()), HasSubstr(each.message));
    EXPECT_EQ(problem.status().message().find('\n'), absl::string_view::npos);
  }
}

TEST(ProblemTest, AnOperatorTakesExactlyItsWords) {
  for (int op = 0; op < kOperatorCount; ++op) {
    for (const ProblemWord& word : ProblemWords()) {
      std::string line(kOperatorNames[op]);
      line += " f32 2x4x8x8 ";
      line += std::string(word.name) + (word.form == ProblemWord::Form::kFlag ? "" : "=?");
      const std::string message = Canonical(line);
      const bool refused = message.find("does not take it") != std::string::npos;
      EXPECT_EQ(refused, (word.ops & BitOf(static_cast<Op>(op))) == 0) << line;
    }
  }
}

// A decimal comma and grouped digits, as in many countries.
class CommaLocale : public std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(ProblemTest, LocaleChangesNothing) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new CommaLocale));
  const std::string c_before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "cs_CZ.UTF-8", "de_DE"}) std::setlocale(LC_ALL, name);
  for (const Spelling& each : kSpellings) EXPECT_EQ(Canonical(each.given), each.canonical);
  std::setlocale(LC_ALL, c_before.c_str());
  std::locale::global(before);
}

struct PoolCase {
  int64_t input, window, stride, pad_begin, pad_end, dilation;
  bool ceil;
  int64_t output;
};

// Outputs by PyTorch's rule, some from public bug reports.
constexpr PoolCase kPoolCases[] = {
    {112, 3, 2, 1, 1, 1, false, 56}, {4, 3, 2, 0, 0, 1, true, 2},
    {9, 4, 4, 2, 2, 1, true, 3},     {2, 3, 3, 1, 1, 1, true, 1},
    {17, 2, 2, 1, 0, 1, true, 9},    {5, 2, 2, 0, 0, 1, true, 3},
    {5, 2, 2, 2, 3, 1, false, 5},    {224, 3, 6, 1, 1, 2, true, 38},
    {4, 6, 2, 0, 0, 1, false, 0},    {49, 2, 50, 0, 0, 1, false, 1},
    {3, 4, 1, 0, 0, 1, true, 0},     {24, 1, 1, 0, 0, 2147483647, true, 24},
};

TEST(ProblemTest, PoolOutputFollowsTheDropRule) {
  for (const PoolCase& each : kPoolCases) {
    PoolWindow window;
    window.size = {each.window};
    window.stride = {each.stride};
    window.pad_begin = {each.pad_begin};
    window.pad_end = {each.pad_end};
    window.dilation = {each.dilation};
    window.ceil = each.ceil;
    EXPECT_EQ(PoolOutputSize(each.input, window, 0), each.output)
        << each.input << " window " << each.window << " stride " << each.stride;
  }
}

TEST(ProblemTest, DenseStridesFollowTheLayout) {
  EXPECT_THAT(DenseStrides({2, 3, 4, 5}, Layout::kChannelsFirst), ElementsAre(60, 20, 5, 1));
  EXPECT_THAT(DenseStrides({2, 3, 4, 5}, Layout::kChannelsLast), ElementsAre(60, 1, 15, 3));
  EXPECT_THAT(DenseStrides({2, 3}, Layout::kChannelsLast), ElementsAre(3, 1));
  EXPECT_THAT(DenseStrides({7}, Layout::kChannelsFirst), ElementsAre(1));
}

TEST(ProblemTest, CumulativeMomentumWeighsTheNewBatchEqually) {
  EXPECT_EQ(ParseProblem("batch_norm.train f32 2x3 momentum=cumulative:0")->new_weight(), 1);
  EXPECT_EQ(ParseProblem("batch_norm.train f32 2x3 momentum=cumulative:3")->new_weight(), 0.25);
  EXPECT_EQ(ParseProblem("batch_norm.train f32 2x3 momentum=0.3")->new_weight(), 0.3);
}

}  // namespace
}  // namespace onepass
