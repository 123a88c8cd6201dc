#include "runtime/reference/check.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/reference/generate.h"
#include "tests/runtime/reference/small_tensors.h"

namespace onepass {
namespace {

using ::testing::ElementsAre;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A reference that wants what it was told.
class ToldReference : public Reference {
 public:
  ToldReference(std::vector<double> want, double magnitude)
      : want_(std::move(want)), magnitude_(magnitude) {}
  void Evaluate(const TensorSpec&, int64_t begin, llvm::MutableArrayRef<long double> want,
                llvm::MutableArrayRef<double> magnitude) const override {
    for (size_t i = 0; i < want.size(); ++i) {
      want[i] = want_[begin + i];
      magnitude[i] = magnitude_;
    }
  }

 private:
  std::vector<double> want_;
  double magnitude_;
};

// The check of one element of y of a batch norm.
OutputCheck CheckOne(const std::string& dtype, double want, double got, double magnitude) {
  const Problem p = *ParseProblem("batch_norm.infer " + dtype + " 1x1");
  const ToldReference reference({want}, magnitude);
  return CheckOutput(p, reference, TensorOf(SpecOf(p, Role::kY, true), {got}));
}

TEST(CheckTest, ToleranceIsTheContracts) {
  // f32: 2 u |want| + 16 u M with u = 2^-24 for both.
  EXPECT_TRUE(CheckOne("f32", 1, 1 + 0x1p-23, 0).ok);
  EXPECT_FALSE(CheckOne("f32", 1, 1 + 0x1p-22, 0).ok);
  EXPECT_TRUE(CheckOne("f32", 1, 1 + 0x1p-20, 1).ok);
  EXPECT_FALSE(CheckOne("f32", 1, 1 + 0x1p-19, 1).ok);
  EXPECT_NEAR(CheckOne("f32", 1, 1, 3).tolerance, 2 * 0x1p-24 + 48 * 0x1p-24, 1e-12);
  // f16: the output's unit 2^-11 beside the accumulation's 2^-24.
  EXPECT_TRUE(CheckOne("f16", 1, 1 + 0x1p-10, 0).ok);
  EXPECT_FALSE(CheckOne("f16", 1, 1 + 0x1p-9, 1).ok);
  // bf16: 2^-8.
  EXPECT_TRUE(CheckOne("bf16", 1, 1 + 0x1p-7, 0).ok);
  EXPECT_FALSE(CheckOne("bf16", 1, 1 + 0x1p-6, 1).ok);
  // f64: 2^-53.
  EXPECT_TRUE(CheckOne("f64", 1, 1 + 0x1p-52, 0).ok);
  EXPECT_FALSE(CheckOne("f64", 1, 1 + 0x1p-51, 0).ok);
}

TEST(CheckTest, ResultsBelowTheNormalRangeMayBeRounded) {
  EXPECT_TRUE(CheckOne("f16", 0x1.4p-24, 0x1p-24, 0).ok);
  EXPECT_FALSE(CheckOne("f16", 0x1.4p-24, 0x1p-23, 0).ok);
  EXPECT_TRUE(CheckOne("f32", 0x1.4p-149, 0x1p-149, 0).ok);
}

TEST(CheckTest, ClassesMustAgree) {
  for (const char* dtype : {"f32", "f16", "bf16", "f64"}) {
    EXPECT_TRUE(CheckOne(dtype, kNan, kNan, 0).ok);
    EXPECT_TRUE(CheckOne(dtype, kInfinity, kInfinity, 0).ok);
    EXPECT_FALSE(CheckOne(dtype, kInfinity, -kInfinity, 0).ok);
    EXPECT_FALSE(CheckOne(dtype, 1, kNan, 1e9).ok);
    EXPECT_FALSE(CheckOne(dtype, kNan, 1, 1e9).ok);
    EXPECT_FALSE(CheckOne(dtype, 1, kInfinity, 1e3).ok);
    EXPECT_FALSE(CheckOne(dtype, kInfinity, 1, 1e3).ok);
    EXPECT_FALSE(CheckOne(dtype, kInfinity, kNan, 0).ok);
  }
}

TEST(CheckTest, BeyondTheLargestIsInfinite) {
  EXPECT_TRUE(CheckOne("f16", 70000, kInfinity, 0).ok);
  EXPECT_FALSE(CheckOne("f16", 70000, -kInfinity, 0).ok);
  EXPECT_FALSE(CheckOne("f16", 70000, 65504, 0).ok);
  EXPECT_TRUE(CheckOne("f16", 65521, 65504, 0).ok);
  EXPECT_TRUE(CheckOne("f16", 65519, kInfinity, 0).ok);
  EXPECT_FALSE(CheckOne("f16", 60000, kInfinity, 0).ok);
  EXPECT_TRUE(CheckOne("f32", 1e39, kInfinity, 0).ok);
}

TEST(CheckTest, NonFiniteErrorsAreNullAndCounted) {
  const OutputCheck check = CheckOne("f32", 1, kNan, 0);
  EXPECT_EQ(check.max_abs_error, std::nullopt);
  EXPECT_EQ(check.max_ulp_error, std::nullopt);
  EXPECT_EQ(check.mismatches, 1);
}

TEST(CheckTest, ErrorsAreInUlpOfTheOutput) {
  EXPECT_DOUBLE_EQ(*CheckOne("f32", 1, 1 + 0x1p-21, 0).max_ulp_error, 4);
  EXPECT_DOUBLE_EQ(*CheckOne("f16", 1.5, 1.5 + 0x1p-9, 0).max_ulp_error, 2);
  EXPECT_DOUBLE_EQ(*CheckOne("bf16", 3, 3.015625, 0).max_ulp_error, 1);
  EXPECT_DOUBLE_EQ(*CheckOne("f64", 1, 1 + 0x1p-51, 0).max_ulp_error, 2);
  EXPECT_DOUBLE_EQ(*CheckOne("f16", 0, 0x1p-23, 0).max_ulp_error, 2);
}

TEST(CheckTest, WorstElementIsNamedLogically) {
  for (const char* layout : {"", ":nhwc"}) {
    const Problem p = *ParseProblem(std::string("batch_norm.train f32 8x16x5x7") + layout);
    const auto inputs = GenerateInputs(p, {}, 3, {});
    const auto reference = *Reference::Create(p, inputs);
    HostTensor y = PerfectOutput(p, *reference, Role::kY);
    const OutputCheck perfect = CheckOutput(p, *reference, y);
    EXPECT_TRUE(perfect.ok);
    EXPECT_LE(*perfect.max_ulp_error, 0.5 + 1e-6);

    std::vector<double> values = ValuesOf(y);
    const int64_t wrong = ((3 * 16 + 11) * 5 + 2) * 7 + 4;
    values[wrong] += 0.001;
    values[wrong + 900] += 0.0001;
    const OutputCheck check = CheckOutput(p, *reference, TensorOf(y.spec, values));
    EXPECT_FALSE(check.ok);
    EXPECT_EQ(check.mismatches, 2);
    EXPECT_NEAR(*check.max_abs_error, 0.001, 1e-6);
    EXPECT_THAT(check.worst_index, ElementsAre(3, 11, 2, 4));
  }
}

TEST(CheckTest, AWrongValueAnywhereIsFound) {
  const Problem p = *ParseProblem("relu.fwd f32 300000");
  const auto inputs = GenerateInputs(p, {}, 5, {});
  const auto reference = *Reference::Create(p, inputs);
  const HostTensor y = PerfectOutput(p, *reference, Role::kY);
  EXPECT_TRUE(CheckOutput(p, *reference, y).ok);
  for (int64_t at : {0, 1, 65535, 65536, 131071, 299999}) {
    std::vector<double> values = ValuesOf(y);
    values[at] = values[at] + 1;
    const OutputCheck check = CheckOutput(p, *reference, TensorOf(y.spec, values));
    EXPECT_FALSE(check.ok);
    EXPECT_EQ(check.mismatches, 1);
    EXPECT_THAT(check.worst_index, ElementsAre(at));
  }
}

TEST(CheckTest, EveryOutputOfTrainingIsChecked) {
  const Problem p = *ParseProblem("batch_norm.train f16 8x6x10x10:nhwc residual act=relu");
  const auto inputs = GenerateInputs(p, {}, 9, {});
  const auto reference = *Reference::Create(p, inputs);
  for (const TensorSpec& spec : TensorsOf(p)) {
    if (!spec.output) continue;
    const HostTensor right = PerfectOutput(p, *reference, spec.role);
    EXPECT_TRUE(CheckOutput(p, *reference, right).ok) << spec.name();
    std::vector<double> values = ValuesOf(right);
    values[5] += 0.01;
    EXPECT_FALSE(CheckOutput(p, *reference, TensorOf(spec, values)).ok) << spec.name();
  }
}

TEST(CheckTest, PointwiseIsHeldToTheRowsBound) {
  const Problem p = *ParseProblem("tanh.fwd f32 1");
  const auto inputs = InputsOf(p, {{0.5}});
  const auto reference = *Reference::Create(p, inputs);
  const double want = std::tanh(0.5), ulp = 0x1p-25;
  const double bound = UlpBound(p.act, p.dtype);
  const TensorSpec y = SpecOf(p, Role::kY, true);
  EXPECT_TRUE(CheckOutput(p, *reference, TensorOf(y, {want + bound * ulp})).ok);
  EXPECT_FALSE(CheckOutput(p, *reference, TensorOf(y, {want + (bound + 1.5) * ulp})).ok);
}

TEST(CheckTest, EmptyOutputsAreRight) {
  const Problem p = *ParseProblem("batch_norm.train f32 0x3x4");
  const auto inputs = GenerateInputs(p, {}, 1, {});
  const auto reference = *Reference::Create(p, inputs);
  EXPECT_TRUE(CheckOutput(p, *reference, HostTensor{SpecOf(p, Role::kY, true), {}}).ok);
  const TensorSpec saved = SpecOf(p, Role::kSavedMean, true);
  EXPECT_TRUE(CheckOutput(p, *reference, TensorOf(saved, {1, 2, 3})).ok);
}

// An f32 implementation as a kernel would have it, two passes with rounded statistics, is within
// tolerance for every activation, with cancellation against the residual, and data far from zero.
TEST(CheckTest, AnHonestSinglePrecisionKernelPasses) {
  for (const char* act :
       {"identity", "relu", "leaky_relu:0.2", "tanh", "sigmoid", "gelu_erf", "swish", "elu",
        "softplus", "hardswish", "exp", "square", "hardshrink", "round"}) {
    for (double mean : {0.0, 1000.0}) {
      const Problem p =
          *ParseProblem(std::string("batch_norm.train f32 64x3x17 residual act=") + act);
      const auto inputs = GenerateInputs(p, {DataSpec::Kind::kNormal, mean, 1}, 11, {});
      const auto reference = *Reference::Create(p, inputs);
      std::vector<double> out;
      const std::vector<double> x = ValuesOf(inputs[0]), scale = ValuesOf(inputs[1]),
                                bias = ValuesOf(inputs[2]), residual = ValuesOf(inputs[5]);
      for (int c = 0; c < 3; ++c) {
        float sum = 0, squares = 0;
        for (int i = 0; i < 64 * 17; ++i)
          sum += static_cast<float>(x[(i / 17 * 3 + c) * 17 + i % 17]);
        const float m = sum / (64 * 17);
        float shift = 0;
        for (int i = 0; i < 64 * 17; ++i) {
          const float d = static_cast<float>(x[(i / 17 * 3 + c) * 17 + i % 17]) - m;
          shift += d;
          squares += d * d;
        }
        const float better = m + shift / (64 * 17);
        const float var = (squares - shift * shift / (64 * 17)) / (64 * 17);
        const float invstd = 1 / std::sqrt(var + 1e-5f);
        for (int i = 0; i < 64 * 17; ++i) {
          const size_t at = (i / 17 * 3 + c) * 17 + i % 17;
          if (out.size() < x.size()) out.resize(x.size());
          float v = (static_cast<float>(x[at]) - better) * invstd;
          v = v * static_cast<float>(scale[c]) + static_cast<float>(bias[c]);
          out[at] = v + static_cast<float>(residual[at]);
        }
      }
      std::vector<double> y = out;
      for (double& each : y) {
        // The activation itself rounded to float.
        const Problem one = *ParseProblem(std::string("pointwise.fwd f64 1 act=") + act);
        const auto point = InputsOf(one, {{each}});
        each = static_cast<float>(Wanted(one, **Reference::Create(one, point), Role::kY)[0]);
      }
      const OutputCheck check = CheckOutput(p, *reference, TensorOf(SpecOf(p, Role::kY, true), y));
      EXPECT_TRUE(check.ok) << act << " mean " << mean << ": " << check.mismatches << " beyond "
                            << check.tolerance;
    }
  }
}

}  // namespace
}  // namespace onepass
