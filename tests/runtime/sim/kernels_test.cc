// Kernels compiled by the CUDA toolkit, both of its front ends, against the same maths on the CPU.
#include <immintrin.h>

#include <cmath>
#include <functional>
#include <random>

#include "runtime/sim/half.h"
#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

class KernelsTest : public testing::TestWithParam<const char*> {
 protected:
  KernelsTest()
      : module_(Parsed(ReadCase(GetParam()))),
        gpu_(Machine{.sms = 4}, GpuOptions{.sanitize = true}) {}

  void TearDown() override {
    for (const Finding& finding : gpu_.TakeFindings()) ADD_FAILURE() << finding.message;
  }

  void Launch(LaunchShape shape, const Packed& parameters) {
    std::vector<uint8_t> bytes = parameters.bytes();
    bytes.resize(module_->FindEntry(shape.entry)->parameter_bytes);
    const auto status = gpu_.Launch(*module_, shape, bytes);
    ASSERT_TRUE(status.ok()) << status;
  }

  template <class T>
  void Pointwise(const std::string& entry, double tolerance, double (*exact)(double)) {
    std::mt19937 random(1);
    std::normal_distribution<double> normal(0, 3);
    std::vector<T> x(5003);
    for (T& value : x) value = static_cast<T>(normal(random));
    const uint64_t in = Upload(gpu_, x, "x");
    const uint64_t out = Upload(gpu_, std::vector<T>(x.size()), "y");
    Launch({.entry = entry, .grid = {8, 1, 1}, .block = {96, 1, 1}},
           Packed().Add(in).Add(out).Add(static_cast<uint32_t>(x.size())));
    const auto y = Download<T>(gpu_, out, x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const double want = exact(x[i]);
      ASSERT_NEAR(y[i], want, tolerance * (1 + std::fabs(want))) << entry << " of " << x[i];
    }
  }

  std::shared_ptr<const Module> module_;
  Gpu gpu_;
};

TEST_P(KernelsTest, ActivationsAgreeWithTheHostsMaths) {
  Pointwise<float>("gelu", 1e-6,
                   [](double v) { return 0.5 * v * (1 + std::erf(v * 0.70710678f)); });
  Pointwise<float>("softplus", 1e-6, [](double v) { return std::log1p(std::exp(v)); });
  Pointwise<float>("tanh_f32", 1e-6, [](double v) { return std::tanh(v); });
  Pointwise<float>("pow_f32", 1e-6, [](double v) { return std::pow(std::fabs(v), 1.7f); });
  // The slow path of the argument reduction, in local memory.
  Pointwise<float>("cos_f32", 1e-6,
                   [](double v) { return std::cos(double{static_cast<float>(v) * 1e6f}); });
  Pointwise<double>("gelu_f64", 1e-14,
                    [](double v) { return 0.5 * v * (1 + std::erf(v * 0.70710678)); });
  Pointwise<double>("exp_f64", 1e-15, [](double v) { return std::exp(v); });
  Pointwise<double>("root_f64", 1e-15, [](double v) { return std::sqrt(std::fabs(v)) + 1 / v; });
}

TEST_P(KernelsTest, EveryHalfConvertsExactly) {
  std::vector<uint16_t> x(65536);
  for (int i = 0; i < 65536; ++i) x[i] = static_cast<uint16_t>(i);
  const uint64_t in = Upload(gpu_, x, "x");
  const uint64_t out = Upload(gpu_, x, "y");
  const Packed parameters = Packed().Add(in).Add(out).Add(uint32_t{65536});
  Launch({.entry = "affine_f16", .grid = {256, 1, 1}, .block = {256, 1, 1}}, parameters);
  auto y = Download<uint16_t>(gpu_, out, x.size());
  for (int i = 0; i < 65536; ++i) ASSERT_EQ(y[i], ToF16(ToFloat(F16{x[i]}) * 1.5f + 0.25f).bits);
  Launch({.entry = "affine_bf16", .grid = {256, 1, 1}, .block = {256, 1, 1}}, parameters);
  y = Download<uint16_t>(gpu_, out, x.size());
  for (int i = 0; i < 65536; ++i) ASSERT_EQ(y[i], ToBf16(ToFloat(Bf16{x[i]}) * 1.5f + 0.25f).bits);
}

float Apart(float a, float b) { return a > b ? a * b + 1.0f : a - b; }

TEST_P(KernelsTest, StructsCallsLocalArraysAndLongDivision) {
  std::vector<float> x(1000);
  for (int i = 0; i < 1000; ++i) x[i] = 0.01f * i - 3;
  const uint64_t in = Upload(gpu_, x, "x");
  const uint64_t out = Upload(gpu_, std::vector<float>(1000), "y");
  Packed parameters;
  parameters.Add(in).Add(out).Add(uint32_t{1000}).Add(uint32_t{0});
  parameters.Add(0.5f).Add(5).Add(0.25).Add(uint16_t{7}).Add(int64_t{77});
  Launch({.entry = "mixture", .grid = {3, 1, 1}, .block = {64, 1, 1}}, parameters);
  const auto y = Download<float>(gpu_, out, 1000);
  for (int i = 0; i < 1000; ++i) {
    float held[16];
    for (int j = 0; j < 16; ++j) held[(j * 5) & 15] = x[i] * j;
    float sum = 0;
    for (int j = 0; j < 16; ++j) sum += held[(j * 3 + 5) & 15] * j;
    const float want = sum + Apart(x[i], 0.5f) + Apart(0.5f, x[i]) + (i / 77) - (i % 77) + 7.25f;
    ASSERT_NEAR(y[i], want, 1e-4 * (1 + std::fabs(want))) << i;
  }
}

TEST_P(KernelsTest, RowNormReadsAndWritesOnce) {
  constexpr uint32_t kRows = 37, kColumns = 1600;
  std::mt19937 random(2);
  std::normal_distribution<float> normal(3, 2);
  std::vector<float> x(kRows * kColumns);
  for (float& value : x) value = normal(random);
  const uint64_t in = Upload(gpu_, x, "x");
  const uint64_t out = Upload(gpu_, std::vector<float>(x.size()), "y");
  gpu_.TakeCounts();
  Launch(
      {.entry = "row_norm", .grid = {kRows, 1, 1}, .block = {256, 1, 1}, .dynamic_shared_bytes = 8},
      Packed().Add(in).Add(out).Add(kColumns).Add(1e-5f));
  const Counts counts = gpu_.TakeCounts();
  EXPECT_EQ(counts.dram_read_bytes, 4 * kRows * kColumns);
  EXPECT_EQ(counts.dram_write_bytes, 4 * kRows * kColumns);
  EXPECT_EQ(counts.barriers, 4 * kRows);
  EXPECT_EQ(counts.sector_efficiency(), 1.0);
  const auto y = Download<float>(gpu_, out, x.size());
  for (uint32_t r = 0; r < kRows; ++r) {
    double mean = 0, square = 0;
    for (uint32_t i = 0; i < kColumns; ++i) mean += x[r * kColumns + i] / double{kColumns};
    for (uint32_t i = 0; i < kColumns; ++i) {
      square += std::pow(x[r * kColumns + i] - mean, 2) / kColumns;
    }
    for (uint32_t i = 0; i < kColumns; ++i) {
      const double want = (x[r * kColumns + i] - mean) / std::sqrt(square + 1e-5);
      ASSERT_NEAR(y[r * kColumns + i], want, 1e-5);
    }
  }
}

TEST_P(KernelsTest, ColumnsThroughAGridBarrier) {
  constexpr uint32_t kRows = 333, kColumns = 96;
  std::vector<float> x(kRows * kColumns);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * 37 % 101);
  const uint64_t in = Upload(gpu_, x, "x");
  const uint64_t out = Upload(gpu_, std::vector<float>(x.size()), "y");
  const uint64_t part = Upload(gpu_, std::vector<float>(8 * kColumns), "partials");
  const uint64_t word = Upload(gpu_, std::vector<uint32_t>(1), "barrier");
  Launch({.entry = "column_centre", .grid = {8, 1, 1}, .block = {256, 1, 1}, .cooperative = true},
         Packed().Add(in).Add(out).Add(part).Add(word).Add(kRows).Add(kColumns));
  const auto y = Download<float>(gpu_, out, x.size());
  for (uint32_t c = 0; c < kColumns; ++c) {
    double mean = 0;
    for (uint32_t r = 0; r < kRows; ++r) mean += x[r * kColumns + c] / double{kRows};
    for (uint32_t r = 0; r < kRows; ++r) {
      ASSERT_NEAR(y[r * kColumns + c], x[r * kColumns + c] - mean, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, KernelsTest,
                         testing::Values("kernels_sm_80.ptx", "kernels_sm_90.ptx",
                                         "kernels_sm_100.ptx"));

}  // namespace
}  // namespace onepass::sim
