#include "runtime/reference/reference.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/reference/generate.h"
#include "tests/runtime/reference/small_tensors.h"

namespace onepass {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

constexpr double kTight = 1e-12;

std::unique_ptr<Reference> Of(const Problem& problem, const std::vector<HostTensor>& inputs) {
  absl::StatusOr<std::unique_ptr<Reference>> reference = Reference::Create(problem, inputs);
  EXPECT_TRUE(reference.ok()) << reference.status();
  return *std::move(reference);
}

// Two channels of two samples: 1 2 | 3 4 and 10 10 | 10 14. Means 2.5 and 11, variances 1.25 and 3.
const std::vector<double> kX = {1, 2, 10, 10, 3, 4, 10, 14};

TEST(BatchNormReferenceTest, TrainingByHand) {
  const Problem p = *ParseProblem("batch_norm.train f64 2x2x2 eps=1 momentum=0.25");
  // scale 2 and 3, bias 10 and 20, running means 1 and 2, running variances 4 and 8.
  const auto inputs = InputsOf(p, {kX, {2, 3}, {10, 20}, {1, 2}, {4, 8}});
  const auto reference = Of(p, inputs);
  // invstd = 1/sqrt(2.25) = 2/3 and 1/sqrt(4) = 1/2.
  EXPECT_THAT(
      Wanted(p, *reference, Role::kY),
      Pointwise(DoubleNear(kTight), {8.0, 10 - 2. / 3, 18.5, 18.5, 10 + 2. / 3, 12.0, 18.5, 24.5}));
  EXPECT_THAT(Wanted(p, *reference, Role::kSavedMean), Pointwise(DoubleNear(kTight), {2.5, 11.0}));
  EXPECT_THAT(Wanted(p, *reference, Role::kSavedInvstd),
              Pointwise(DoubleNear(kTight), {2. / 3, 0.5}));
  EXPECT_THAT(Wanted(p, *reference, Role::kRunningMeanOut),
              Pointwise(DoubleNear(kTight), {0.75 * 1 + 0.25 * 2.5, 0.75 * 2 + 0.25 * 11}));
  // Unbiased: times 4/3.
  EXPECT_THAT(Wanted(p, *reference, Role::kRunningVarOut),
              Pointwise(DoubleNear(kTight), {0.75 * 4 + 0.25 * 5. / 3, 0.75 * 8 + 0.25 * 4}));
}

TEST(BatchNormReferenceTest, BiasedAndCumulativeRunningStatistics) {
  const Problem p = *ParseProblem(
      "batch_norm.train f64 2x2x2 affine=none momentum=cumulative:3 running_var=biased");
  const auto inputs = InputsOf(p, {kX, {1, 2}, {4, 8}});
  const auto reference = Of(p, inputs);
  EXPECT_THAT(Wanted(p, *reference, Role::kRunningMeanOut),
              Pointwise(DoubleNear(kTight), {(3 * 1 + 2.5) / 4, (3 * 2 + 11) / 4.}));
  EXPECT_THAT(Wanted(p, *reference, Role::kRunningVarOut),
              Pointwise(DoubleNear(kTight), {(3 * 4 + 1.25) / 4, (3 * 8 + 3) / 4.}));
}

TEST(BatchNormReferenceTest, ResidualIsAddedBeforeTheActivation) {
  const Problem p = *ParseProblem("batch_norm.infer f64 1x2x2 eps=0 residual act=relu");
  // Channel 0: (x-1)*2/2+1; channel 1: (x-2)*1/1+0.
  const auto inputs = InputsOf(p, {{3, -3, 0, 5}, {2, 1}, {1, 0}, {1, 2}, {4, 1}, {1, 10, 1, -1}});
  const auto reference = Of(p, inputs);
  EXPECT_THAT(Wanted(p, *reference, Role::kY), ElementsAre(4, 7, 0, 2));
}

TEST(BatchNormReferenceTest, LayoutAndStridesDoNotMatter) {
  const std::string line = "batch_norm.train f32 3x5x4x6";
  std::vector<std::vector<double>> results;
  for (const char* end : {"", ":nhwc", " strides=120,1,30,5", " strides=300,50,10,1"}) {
    const Problem p = *ParseProblem(line + end);
    const auto inputs = GenerateInputs(p, {}, 7, {});
    const auto reference = Of(p, inputs);
    results.push_back(Wanted(p, *reference, Role::kY));
    results.back().push_back(Wanted(p, *reference, Role::kRunningVarOut)[4]);
  }
  for (const auto& each : results) EXPECT_THAT(each, Pointwise(DoubleNear(kTight), results[0]));
}

TEST(BatchNormReferenceTest, ConstantChannelsGiveExactlyBias) {
  for (double constant : {100.0, 1e10, 0.1}) {
    const Problem p = *ParseProblem("batch_norm.train f32 5x1x10x10");
    const auto inputs = InputsOf(p, {std::vector<double>(500, constant), {1.5}, {0.25}, {0}, {1}});
    const auto reference = Of(p, inputs);
    EXPECT_THAT(Wanted(p, *reference, Role::kY), Each(0.25));
    EXPECT_EQ(Wanted(p, *reference, Role::kSavedMean)[0], static_cast<float>(constant));
  }
}

TEST(BatchNormReferenceTest, ALargeMeanCostsNoAccuracy) {
  // 1000 +- 2^-10 alternating: the variance is exactly 2^-20.
  std::vector<double> x(1 << 16);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1000 + (i % 2 == 0 ? 1 : -1) * 0x1p-10;
  const Problem p = *ParseProblem(
      "batch_norm.train f32 1x1x65536 eps=0 affine=none running_var=biased momentum=1");
  const auto inputs = InputsOf(p, {x, {0}, {1}});
  const auto reference = Of(p, inputs);
  EXPECT_NEAR(Wanted(p, *reference, Role::kSavedInvstd)[0], 1024, 1e-6);
  EXPECT_NEAR(Wanted(p, *reference, Role::kRunningVarOut)[0], 0x1p-20, 1e-15);
}

TEST(BatchNormReferenceTest, EmptyTensorsLeaveRunningStatisticsAlone) {
  const Problem p = *ParseProblem("batch_norm.train f32 0x2x9");
  const auto inputs = InputsOf(p, {{}, {1, 1}, {0, 0}, {3, 4}, {5, 6}});
  const auto reference = Of(p, inputs);
  EXPECT_THAT(Wanted(p, *reference, Role::kY), ElementsAre());
  EXPECT_THAT(Wanted(p, *reference, Role::kRunningMeanOut), ElementsAre(3, 4));
  EXPECT_THAT(Wanted(p, *reference, Role::kRunningVarOut), ElementsAre(5, 6));
}

TEST(BatchNormReferenceTest, OneValuePerChannelGivesBias) {
  const Problem p = *ParseProblem("batch_norm.train f32 1x2x1 running_var=biased act=relu");
  const auto inputs = InputsOf(p, {{5, 7}, {1, 1}, {0.5, -0.5}, {0, 0}, {1, 1}});
  EXPECT_THAT(Wanted(p, *Of(p, inputs), Role::kY), ElementsAre(0.5, 0));
}

TEST(BatchNormReferenceTest, NanAndInfinityStayInTheirChannel) {
  const Problem p = *ParseProblem("batch_norm.train f32 2x3x4 affine=none");
  std::vector<double> x(24, 1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 5);
  x[1] = std::nan("");
  x[5] = INFINITY;
  const auto inputs = InputsOf(p, {x, {0, 0, 0}, {1, 1, 1}});
  const std::vector<double> y = Wanted(p, *Of(p, inputs), Role::kY);
  for (int i = 0; i < 24; ++i) EXPECT_EQ(std::isnan(y[i]), i / 4 % 3 != 2) << i;
}

// Rows 1 2 3 and 2 2 5: means 2 and 3, variances 2/3 and 2, mean squares 14/3 and 11.
TEST(SampleNormReferenceTest, LayerAndRmsNormByHand) {
  const std::vector<double> x = {1, 2, 3, 2, 2, 5}, scale = {1, 2, 3}, bias = {10, 20, 30};
  const Problem layer = *ParseProblem("layer_norm.fwd f64 2x3 eps=2 save");
  const auto inputs = InputsOf(layer, {x, scale, bias});
  const auto reference = Of(layer, inputs);
  const double a = 1 / std::sqrt(2. / 3 + 2), b = 0.5;
  EXPECT_THAT(Wanted(layer, *reference, Role::kY),
              Pointwise(DoubleNear(kTight),
                        {10 - a, 20.0, 30 + 3 * a, 10 - b, 20 - 2 * b, 30 + 3 * 2 * b}));
  EXPECT_THAT(Wanted(layer, *reference, Role::kSavedMean), Pointwise(DoubleNear(kTight), {2., 3.}));
  EXPECT_THAT(Wanted(layer, *reference, Role::kSavedInvstd), Pointwise(DoubleNear(kTight), {a, b}));

  const Problem rms = *ParseProblem("rms_norm.fwd f64 2x3 eps=5 save");
  const auto of_rms = InputsOf(rms, {x, scale});
  const double c = 1 / std::sqrt(14. / 3 + 5), d = 0.25;
  EXPECT_THAT(Wanted(rms, *Of(rms, of_rms), Role::kY),
              Pointwise(DoubleNear(kTight), {c, 4 * c, 9 * c, 2 * d, 4 * d, 15 * d}));
  EXPECT_THAT(Wanted(rms, *Of(rms, of_rms), Role::kSavedInvstd),
              Pointwise(DoubleNear(kTight), {c, d}));
}

// Groups of two channels of two values: 1 2 | 3 4 and 10 10 | 10 14.
TEST(SampleNormReferenceTest, GroupAndInstanceNormByHand) {
  const std::vector<double> x = {1, 2, 3, 4, 10, 10, 10, 14};
  const std::vector<double> scale = {1, 2, 3, 4}, bias = {0, 1, 2, 3};
  for (const char* layout : {"", ":nhwc"}) {
    const Problem group =
        *ParseProblem(std::string("group_norm.fwd f64 1x4x2") + layout + " groups=2 eps=1 save");
    const auto inputs = InputsOf(group, {x, scale, bias});
    const auto reference = Of(group, inputs);
    // Variances 1.25 and 3.
    EXPECT_THAT(
        Wanted(group, *reference, Role::kY),
        Pointwise(DoubleNear(kTight), {-1.0, -1. / 3, 1 + 2. / 3, 3.0, 0.5, 0.5, 1.0, 9.0}));
    EXPECT_THAT(Wanted(group, *reference, Role::kSavedMean),
                Pointwise(DoubleNear(kTight), {2.5, 11.0}));
    const Problem instance = *ParseProblem(std::string("instance_norm.fwd f64 1x4x2") + layout +
                                           " eps=0 affine=bias save");
    const auto of_instance = InputsOf(instance, {x, bias});
    EXPECT_THAT(Wanted(instance, *Of(instance, of_instance), Role::kSavedMean),
                Pointwise(DoubleNear(kTight), {1.5, 3.5, 10., 12.}));
  }
}

TEST(PointwiseReferenceTest, AppliesTheActivationInAnyLayout) {
  for (const char* end : {"", ":nhwc", " strides=1,2,4"}) {
    const Problem p = *ParseProblem(std::string("relu.fwd f16 2x2x2") + end);
    const auto inputs = InputsOf(p, {{1, -2, 3, -4, 5, -6, 7, -8}});
    EXPECT_THAT(Wanted(p, *Of(p, inputs), Role::kY), ElementsAre(1, 0, 3, 0, 5, 0, 7, 0));
  }
}

TEST(PointwiseReferenceTest, BroadcastInputMayShareMemory) {
  const Problem p = *ParseProblem("square.fwd f32 2x3 strides=0,1");
  HostTensor x{SpecOf(p, Role::kX, false), {}};
  x = TensorOf(x.spec, {1, 2, 3, 1, 2, 3});
  const std::vector<HostTensor> inputs = {x};
  EXPECT_THAT(Wanted(p, *Of(p, inputs), Role::kY), ElementsAre(1, 4, 9, 1, 4, 9));
}

TEST(ReferenceTest, WhatHasNoReferenceSaysSo) {
  for (const char* line : {"layer_norm.fwd f32 2x3 skip", "layer_norm.grad f32 2x3",
                           "max_pool.fwd f32 1x1x4 window=2", "batch_norm.grad f32 2x3",
                           "pointwise.fwd f32 2x3 expr=x+1", "relu.fwd f32 2x3 | relu.fwd"}) {
    const Problem p = *ParseProblem(line);
    const auto inputs = GenerateInputs(p, {}, 1, {});
    const auto reference = Reference::Create(p, inputs);
    EXPECT_EQ(reference.status().code(), absl::StatusCode::kUnimplemented) << line;
    EXPECT_THAT(std::string(reference.status().message()), HasSubstr("no reference for")) << line;
  }
}

}  // namespace
}  // namespace onepass
