#include "runtime/reference/activation_value.h"

#include <cmath>
#include <limits>
#include <string>

#include "codegen/problem.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Activation ActOf(const std::string& spelling) {
  return ParseProblem("pointwise.fwd f32 1 act=" + spelling)->act;
}

template <typename Real = double>
Real ValueOf(const Activation& act, Real x) {
  ApplyActivation(act, &x, 1);
  return x;
}

// One activation of each row, with constants for those that need them.
std::string SpellingOf(const ActivationRow& row) {
  std::string spelling(row.name);
  for (int i = 0; i < row.required; ++i) spelling += i == 0 ? ":0.5" : ":2";
  return spelling;
}

struct Point {
  const char* act;
  double x, y;
};

// Values computed to 20 digits with an arbitrary-precision calculator.
constexpr Point kPoints[] = {
    {"identity", -3.5, -3.5},
    {"relu", -3.5, 0},
    {"relu", 2, 2},
    {"leaky_relu", -2, -0.02},
    {"leaky_relu:0.2", -2, -0.4},
    {"relu6", 7, 6},
    {"clip:-1:1", -3, -1},
    {"elu", -1, -0.63212055882855767840},
    {"elu:2", -1, -1.2642411176571153568},
    {"celu:2", -1, -0.78693868057473315279},
    {"selu", -1, -1.1113307378125628},
    {"selu", 1, 1.0507009873554804934},
    {"sigmoid", 1, 0.73105857863000487926},
    {"sigmoid", -100, 3.7200759760208359630e-44},
    {"tanh", 0.5, 0.46211715726000975850},
    {"tanh", 1e-10, 1e-10},
    {"swish", 1, 0.73105857863000487926},
    {"swish", -90, -7.3746e-38},
    {"hardswish", 1, 0.66666666666666666667},
    {"hardswish", -4, 0},
    {"hardsigmoid", 1, 0.66666666666666666667},
    {"softplus", 0, 0.69314718055994530942},
    {"softplus", -50, 1.9287498479639177830e-22},
    {"softplus", 100, 100},
    {"softplus:2", 1, 1.0634640055214863},
    {"softplus:1:-100", 3, 3},
    {"logsigmoid", -1, -1.3132616875182228340},
    {"logsigmoid", 100, -3.7200759760208359630e-44},
    {"softsign", -3, -0.75},
    {"tanhshrink", 0.001, 3.3333320000005397e-10},
    {"tanhshrink", 1, 0.23840584404423511188},
    {"mish", 1, 0.86509838826731034},
    {"mish", -100, -3.7200759760208359e-42},
    {"gelu_erf", 1, 0.84134474606854294859},
    {"gelu_erf", -10, -7.619853024160526e-23},
    {"gelu_tanh", 1, 0.84119199060827676},
    {"gelu_tanh", -1e30, 0},
    {"exp", 1, 2.7182818284590452354},
    {"log", 10, 2.3025850929940456840},
    {"sqrt", 2, 1.4142135623730950488},
    {"abs", -2, 2},
    {"square", -3, 9},
    {"round", 2.5, 2},
    {"round", -3.5, -4},
    {"pow:2:3", 2, 16},
    {"linear:2:3", 4, 11},
    {"threshold:2:10", 2, 10},
    {"threshold:2:10", 3, 3},
    {"hardshrink", 0.5, 0},
    {"hardshrink", -0.6, -0.6},
    {"softshrink", 0.75, 0.25},
    {"softshrink", -0.75, -0.25},
    {"softshrink", 0.25, 0},
    {"thresholded_relu", 1, 0},
    {"thresholded_relu", 1.5, 1.5},
};

TEST(ActivationValueTest, KnownValues) {
  for (const Point& each : kPoints) {
    const double got = ValueOf(ActOf(each.act), each.x);
    const double digits = std::string(each.act) == "swish" && each.x == -90 ? 1e-4 : 2e-14;
    EXPECT_NEAR(got, each.y, digits * std::fabs(each.y)) << each.act << "(" << each.x << ")";
  }
}

constexpr Point kLimits[] = {
    {"relu", kInfinity, kInfinity},
    {"relu", -kInfinity, 0.0},
    {"relu", -0.0, 0.0},
    {"leaky_relu", -kInfinity, -kInfinity},
    {"relu6", kInfinity, 6},
    {"elu", -kInfinity, -1},
    {"sigmoid", kInfinity, 1},
    {"sigmoid", -kInfinity, 0.0},
    {"tanh", kInfinity, 1},
    {"tanh", -kInfinity, -1},
    {"swish", kInfinity, kInfinity},
    {"swish", -kInfinity, -0.0},
    {"hardswish", kInfinity, kInfinity},
    {"hardswish", -kInfinity, -0.0},
    {"hardsigmoid", -kInfinity, 0.0},
    {"softplus", kInfinity, kInfinity},
    {"softplus", -kInfinity, 0.0},
    {"logsigmoid", -kInfinity, -kInfinity},
    {"logsigmoid", kInfinity, 0.0},
    {"softsign", kInfinity, 1},
    {"softsign", -kInfinity, -1},
    {"mish", kInfinity, kInfinity},
    {"mish", -kInfinity, -0.0},
    {"gelu_erf", kInfinity, kInfinity},
    {"gelu_erf", -kInfinity, -0.0},
    {"gelu_tanh", kInfinity, kInfinity},
    {"gelu_tanh", -kInfinity, -0.0},
    {"exp", -kInfinity, 0.0},
};

TEST(ActivationValueTest, InfinitiesGiveTheLimits) {
  for (const Point& each : kLimits) {
    const double got = ValueOf(ActOf(each.act), each.x);
    EXPECT_EQ(got, each.y) << each.act << "(" << each.x << ")";
    EXPECT_EQ(std::signbit(got), std::signbit(each.y)) << each.act << "(" << each.x << ")";
    EXPECT_EQ(ValueOf<long double>(ActOf(each.act), each.x), each.y) << each.act;
  }
}

TEST(ActivationValueTest, NanPassesEveryActivation) {
  for (const ActivationRow& row : Activations()) {
    const Activation act = ActOf(SpellingOf(row));
    EXPECT_TRUE(std::isnan(ValueOf(act, std::nan("")))) << row.name;
  }
}

TEST(ActivationValueTest, FiniteArgumentsNeverGiveNanWhereTheFunctionIsDefined) {
  for (const ActivationRow& row : Activations()) {
    const Activation act = ActOf(SpellingOf(row));
    for (double x :
         {0.0, 1e-40, 1.0, 88.0, 1000.0, 3.4e38, -1e-40, -1.0, -13.24, -88.0, -1000.0, -3.4e38}) {
      const bool defined = x >= 0 || (row.name != "log" && row.name != "sqrt");
      if (defined) {
        EXPECT_FALSE(std::isnan(ValueOf(act, x))) << row.name << "(" << x << ")";
      }
    }
  }
}

// double against long double: the formulas keep their relative accuracy over the whole range.
TEST(ActivationValueTest, DoubleAgreesWithLongDoubleToFewUnits) {
  for (const ActivationRow& row : Activations()) {
    const Activation act = ActOf(SpellingOf(row));
    for (double size = 1e-30; size < 1e4; size *= 1.37) {
      for (double x : {size, -size}) {
        const long double exact = ValueOf<long double>(act, x);
        if (std::isnan(exact) || std::isinf(static_cast<double>(exact)) ||
            std::fabs(exact) < 1e-300L)
          continue;
        // The argument of an exponential is rounded, and the exponential multiplies that error by
        // it.
        const double units = 2000 + 4 * std::fabs(x);
        EXPECT_NEAR(ValueOf(act, x), static_cast<double>(exact),
                    units * 1e-16 * std::fabs(static_cast<double>(exact)))
            << row.name << "(" << x << ")";
      }
    }
  }
}

TEST(ActivationValueTest, SlopeBoundHolds) {
  for (const ActivationRow& row : Activations()) {
    const Activation act = ActOf(SpellingOf(row));
    const double bound = SlopeBound(act);
    if (std::isinf(bound)) continue;
    for (double x = -30; x < 30; x += 0.0137) {
      const double step = 1e-6;
      const double slope = (ValueOf(act, x + step) - ValueOf(act, x)) / step;
      EXPECT_LE(std::fabs(slope), bound + 1e-6) << row.name << "(" << x << ")";
    }
  }
}

}  // namespace
}  // namespace onepass
