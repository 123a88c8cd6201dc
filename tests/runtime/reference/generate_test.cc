#include "runtime/reference/generate.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/reference/derived_inputs.h"
#include "runtime/reference/random.h"
#include "tests/runtime/reference/small_tensors.h"

namespace onepass {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pointwise;

std::vector<HostTensor> Inputs(const std::string& line, const std::string& data = "normal:0,1",
                               uint64_t seed = 1) {
  return GenerateInputs(*ParseProblem(line), *ParseDataSpec(data), seed, {});
}

struct Statistics {
  double mean, variance, kurtosis;
};

Statistics StatisticsOf(const std::vector<double>& values) {
  double sum = 0, square = 0, fourth = 0;
  for (double v : values) sum += v;
  const double mean = sum / values.size();
  for (double v : values) {
    const double d = v - mean;
    square += d * d;
    fourth += d * d * d * d;
  }
  const double variance = square / values.size();
  return {mean, variance, fourth / values.size() / (variance * variance)};
}

TEST(RandomTest, NormalNumbersAreNormal) {
  std::vector<double> values(1 << 20);
  DrawNormal(StreamKey(1, 2), 0, 1, values.size(), values.data());
  const Statistics statistics = StatisticsOf(values);
  EXPECT_NEAR(statistics.mean, 0, 0.005);
  EXPECT_NEAR(statistics.variance, 1, 0.01);
  EXPECT_NEAR(statistics.kurtosis, 3, 0.05);
  const int64_t beyond_two =
      std::count_if(values.begin(), values.end(), [](double v) { return v > 2; });
  EXPECT_NEAR(beyond_two / static_cast<double>(values.size()), 0.02275, 0.001);
}

TEST(RandomTest, AnyNumberCanBeDrawnAlone) {
  std::vector<double> all(5000), some(100);
  for (auto draw : {DrawNormal, DrawUniform}) {
    draw(42, 0, 1, all.size(), all.data());
    draw(42, 17, 31, some.size(), some.data());
    for (size_t i = 0; i < some.size(); ++i) EXPECT_EQ(some[i], all[17 + 31 * i]);
  }
}

TEST(GenerateTest, DataHasTheDistributionAskedFor) {
  const std::vector<double> normal = ValuesOf(Inputs("relu.fwd f32 100000", "normal:3,2")[0]);
  EXPECT_NEAR(StatisticsOf(normal).mean, 3, 0.05);
  EXPECT_NEAR(StatisticsOf(normal).variance, 4, 0.1);
  const std::vector<double> uniform = ValuesOf(Inputs("relu.fwd f32 100000", "uniform:-1,3")[0]);
  EXPECT_NEAR(StatisticsOf(uniform).mean, 1, 0.05);
  EXPECT_GE(*std::min_element(uniform.begin(), uniform.end()), -1);
  EXPECT_LE(*std::max_element(uniform.begin(), uniform.end()), 3);
  EXPECT_THAT(ValuesOf(Inputs("relu.fwd f16 9", "constant:2.5")[0]), Each(2.5));
}

TEST(GenerateTest, ParametersHaveTheirRanges) {
  const auto inputs = Inputs("batch_norm.train f32 2x5000", "normal:10,4");
  const std::vector<double> scale = ValuesOf(inputs[1]), bias = ValuesOf(inputs[2]);
  EXPECT_TRUE(
      std::all_of(scale.begin(), scale.end(), [](double v) { return v >= 0.5 && v <= 1.5; }));
  EXPECT_TRUE(
      std::all_of(bias.begin(), bias.end(), [](double v) { return v >= -0.5 && v <= 0.5; }));
  const Statistics mean = StatisticsOf(ValuesOf(inputs[3]));
  EXPECT_NEAR(mean.mean, 10, 0.2);
  EXPECT_NEAR(mean.variance, 4, 0.3);
  const std::vector<double> var = ValuesOf(inputs[4]);
  EXPECT_TRUE(std::all_of(var.begin(), var.end(), [](double v) { return v >= 8 && v <= 32; }));
}

TEST(GenerateTest, ValuesDependOnSeedAndRoleAlone) {
  const std::vector<double> dense = ValuesOf(Inputs("batch_norm.infer f32 3x4x5x6 residual")[0]);
  EXPECT_EQ(ValuesOf(Inputs("batch_norm.infer f32 3x4x5x6:nhwc")[0]), dense);
  EXPECT_EQ(ValuesOf(Inputs("relu.fwd f32 3x4x5x6 strides=500,100,10,1")[0]), dense);
  EXPECT_NE(ValuesOf(Inputs("relu.fwd f32 3x4x5x6", "normal:0,1", 2)[0]), dense);
  EXPECT_NE(ValuesOf(Inputs("batch_norm.infer f32 3x4x5x6 residual")[5]), dense);
}

TEST(GenerateTest, GivenTensorsAreKept) {
  const Problem p = *ParseProblem("batch_norm.infer f32 2x3");
  const auto generated = GenerateInputs(p, {}, 1, {});
  std::vector<HostTensor> given = {TensorOf(generated[1].spec, {7, 8, 9})};
  const auto inputs = GenerateInputs(p, {}, 1, given);
  ASSERT_EQ(inputs.size(), generated.size());
  EXPECT_THAT(ValuesOf(inputs[1]), ElementsAre(7, 8, 9));
  EXPECT_EQ(inputs[0].bytes, generated[0].bytes);
  EXPECT_EQ(inputs[4].bytes, generated[4].bytes);
}

TEST(GenerateTest, MemoryBetweenStridedElementsIsNan) {
  const auto inputs = Inputs("relu.fwd f32 2x2 strides=4,2");
  std::vector<double> memory(7);
  LoadElements(DType::kF32, inputs[0].bytes.data(), 0, 1, 7, memory.data());
  for (int i = 0; i < 7; ++i) EXPECT_EQ(std::isnan(memory[i]), i % 2 == 1) << i;
}

TEST(GenerateTest, SharedMemoryHoldsTheLastValueInLogicalOrder) {
  const std::vector<double> dense = ValuesOf(Inputs("relu.fwd f32 3x4")[0]);
  const std::vector<double> shared = ValuesOf(Inputs("relu.fwd f32 3x4 strides=0,1")[0]);
  for (int i = 0; i < 12; ++i) EXPECT_EQ(shared[i], dense[8 + i % 4]);
}

TEST(GenerateTest, SpecialValuesCycleForPointwise) {
  const std::vector<double> x = ValuesOf(Inputs("relu.fwd f16 22", "special")[0]);
  for (int i = 0; i < 22; i += 11) {
    EXPECT_EQ(x[i], 0);
    EXPECT_FALSE(std::signbit(x[i]));
    EXPECT_TRUE(std::signbit(x[i + 1]));
    EXPECT_EQ(x[i + 2], 0x1p-24);
    EXPECT_EQ(x[i + 3], 0x1p-14);
    EXPECT_EQ(x[i + 4], 1);
    EXPECT_EQ(x[i + 6], 65504);
    EXPECT_EQ(x[i + 8], INFINITY);
    EXPECT_TRUE(std::isnan(x[i + 10]));
  }
}

TEST(GenerateTest, SpecialValuesOfNormsFillRegions) {
  for (const char* line : {"batch_norm.train f16 3x6x4", "batch_norm.train f16 3x6x4:nhwc"}) {
    const std::vector<double> x = ValuesOf(Inputs(line, "special")[0]);
    std::vector<int> nans(6), infinities(6), hundreds(6), quarters(6);
    for (int i = 0; i < 3 * 6 * 4; ++i) {
      const int channel = i / 4 % 6;
      nans[channel] += std::isnan(x[i]);
      infinities[channel] += std::isinf(x[i]);
      hundreds[channel] += x[i] == 100;
      quarters[channel] += std::fabs(x[i]) == 16376;
    }
    EXPECT_THAT(nans, ElementsAre(1, 0, 0, 0, 0, 0));
    EXPECT_THAT(infinities, ElementsAre(0, 1, 0, 0, 0, 0));
    EXPECT_THAT(hundreds, ElementsAre(0, 0, 12, 0, 0, 0));
    EXPECT_THAT(quarters, ElementsAre(0, 0, 0, 12, 0, 0));
  }
}

TEST(GenerateTest, SpecialRegionsAreRowsAndGroupsToo) {
  const std::vector<double> rows = ValuesOf(Inputs("layer_norm.fwd f32 5x4", "special")[0]);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(rows[8 + i], 100);
  const std::vector<double> groups =
      ValuesOf(Inputs("group_norm.fwd f32 2x4x3:nhwc groups=2", "special")[0]);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(groups[12 + i], 100);
}

TEST(GenerateTest, SavedStatisticsComeFromX) {
  const Problem p = *ParseProblem("batch_norm.grad f64 2x2x2 affine=none eps=1");
  const HostTensor x = TensorOf(SpecOf(p, Role::kX, false), {1, 2, 10, 10, 3, 4, 10, 14});
  const auto inputs = GenerateInputs(p, {}, 1, {x});
  EXPECT_THAT(ValuesOf(inputs[2]), Pointwise(DoubleNear(1e-15), {2.5, 11.0}));
  EXPECT_THAT(ValuesOf(inputs[3]), Pointwise(DoubleNear(1e-15), {2. / 3, 0.5}));
}

TEST(GenerateTest, SavedStatisticsOfEveryNorm) {
  const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 9};
  struct {
    const char* line;
    std::vector<double> means, variances;
  } const cases[] = {
      {"layer_norm.grad f64 4x2 eps=0", {1.5, 3.5, 5.5, 8}, {.25, .25, .25, 1}},
      {"layer_norm.grad f64 2x2x2 axes=2 eps=0", {2.5, 6.75}, {1.25, 2.1875}},
      {"instance_norm.grad f64 2x2x2 eps=0", {1.5, 3.5, 5.5, 8}, {.25, .25, .25, 1}},
      {"group_norm.grad f64 1x4x2 groups=2 eps=0", {2.5, 6.75}, {1.25, 2.1875}},
      {"group_norm.grad f64 1x4x2:nhwc groups=2 eps=0", {2.5, 6.75}, {1.25, 2.1875}},
  };
  for (const auto& each : cases) {
    const Problem p = *ParseProblem(each.line);
    const auto inputs = GenerateInputs(p, {}, 1, {TensorOf(SpecOf(p, Role::kX, false), values)});
    std::vector<double> invstds;
    for (double variance : each.variances) invstds.push_back(1 / std::sqrt(variance));
    EXPECT_THAT(ValuesOf(inputs[3]), Pointwise(DoubleNear(1e-15), each.means)) << each.line;
    EXPECT_THAT(ValuesOf(inputs[4]), Pointwise(DoubleNear(1e-15), invstds)) << each.line;
  }
  const Problem rms = *ParseProblem("rms_norm.grad f64 4x2 eps=0");
  const auto inputs = GenerateInputs(rms, {}, 1, {TensorOf(SpecOf(rms, Role::kX, false), values)});
  EXPECT_NEAR(ValuesOf(inputs[3])[0], 1 / std::sqrt(2.5), 1e-15);
}

TEST(GenerateTest, IndicesPointAtTheFirstMaximum) {
  struct {
    const char* line;
    std::vector<double> x, indices;
  } const cases[] = {
      {"max_pool.grad f32 1x1x4x4 window=2x2 indices",
       {1, 2, 3, 3, 5, 4, 3, 3, 0, 0, NAN, 9, 0, 0, 9, NAN},
       {4, 2, 8, 10}},
      {"max_pool.grad f32 1x1x4 window=1 stride=1 pad=1 indices",
       {1, 2, 3, 4},
       {-1, 0, 1, 2, 3, -1}},
      {"max_pool.grad f32 1x1x3 window=2 stride=1 indices",
       {-INFINITY, -INFINITY, -INFINITY},
       {0, 1}},
  };
  for (const auto& each : cases) {
    Problem p = *ParseProblem(each.line);
    p.window.indices = false;
    const HostTensor x = TensorOf(SpecOf(p, Role::kX, false), each.x);
    p.window.indices = true;
    const HostTensor indices = DeriveInput(p, SpecOf(p, Role::kIndices, false), x);
    EXPECT_EQ(ValuesOf(indices), each.indices) << each.line;
  }
}

TEST(GenerateTest, DataSpecIsUnderstoodOrNamed) {
  EXPECT_EQ(ParseDataSpec("normal:1000,1")->a, 1000);
  EXPECT_EQ(ParseDataSpec("uniform:-1,1e3")->b, 1000);
  EXPECT_EQ(ParseDataSpec("constant:-0.5")->a, -0.5);
  EXPECT_EQ(ParseDataSpec("special")->kind, DataSpec::Kind::kSpecial);
  for (const char* text :
       {"", "normal", "normal:1", "normal:1,2,3", "normal:a,1", "normal:0,-1", "uniform:2,1",
        "normal:nan,1", "uniform:0,inf", "constant:", "special:1", "gamma:1,2"}) {
    const auto data = ParseDataSpec(text);
    EXPECT_EQ(data.status().code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(data.status().message()), HasSubstr("data: ")) << text;
  }
}

}  // namespace
}  // namespace onepass
