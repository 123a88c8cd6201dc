// Data that shows a wrong order of operations: far from the mean, constant, infinite, at both ends
// of the type's range, outliers.
#include <string>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "runtime/case_run.h"
#include "runtime/session.h"
#include "tests/runtime/simulated_case.h"

namespace onepass {
namespace {

struct NumericCase {
  const char* line;
  const char* data;
  const char* strategy = "";
};

// Values many deviations from a given mean: the rounding of the factor is magnified.
// One Inf in a channel: its mean is infinite, its variance NaN, other channels are untouched.
constexpr NumericCase kCases[] = {
    {"batch_norm.infer f32 8x64x28x28", "uniform:0,255"},
    {"batch_norm.infer f64 8x64x28x28", "uniform:0,255"},
    {"batch_norm.infer f32 8x64x9", "constant:777"},
    {"batch_norm.infer f32 8x64x9:nhwc residual act=relu", "constant:1e5"},
    {"batch_norm.infer f64 8x64x9 eps=0", "uniform:-50,50"},
    {"batch_norm.train f32 1x5x10x10 affine=none", "constant:1e10"},
    {"batch_norm.train f16 4x6x5", "special"},
    {"batch_norm.train f16 4x6x64x64", "special", "multi_pass"},
    {"batch_norm.train f16 64x64x32x32:nhwc", "special", "multi_pass"},
    {"batch_norm.train f16 64x64x32x32:nhwc", "special", "persistent_grid"},
    {"batch_norm.infer bf16 4x6x5", "special"},
    // Sums and squares beyond the range, in regions 3; squares that vanish.
    {"batch_norm.train bf16 64x6x64x64", "special", "multi_pass"},
    {"batch_norm.train f32 4x6x64x64", "special", "persistent_block"},
    {"batch_norm.train f64 4x6x64x64", "special", "multi_pass"},
    {"batch_norm.train bf16 16x64x32x32:nhwc", "special", "persistent_grid"},
    {"batch_norm.train f32 16x64x32x32:nhwc", "special", "multi_pass"},
    {"batch_norm.train f64 16x64x32x32:nhwc", "special", "persistent_grid"},
    {"batch_norm.train f32 6x16x24x28", "constant:-3e38", "persistent_block"},
    {"batch_norm.train f32 6x16x24x28", "constant:1e37", "multi_pass"},
    {"batch_norm.train f32 6x16x24x28:nhwc", "constant:-3e38", "persistent_grid"},
    {"batch_norm.train bf16 6x16x24x28:nhwc", "constant:3e38", "multi_pass"},
    {"batch_norm.train f32 6x16x24x28 eps=0", "normal:0,1e-36", "persistent_block"},
    {"batch_norm.train f32 6x16x24x28 eps=0", "normal:0,1e-30", "multi_pass"},
    {"batch_norm.train f64 6x16x24x28:nhwc eps=0", "normal:0,1e-280", "persistent_grid"},
    {"batch_norm.train bf16 6x16x24x28:nhwc eps=0", "normal:0,1e-30", "multi_pass"},
    // Differences beyond the range, values near its lower end, an infinite given variance, an eps
    // that float cannot hold.
    {"batch_norm.train f32 3x2x9001", "uniform:-3.4e38,3.4e38"},
    {"batch_norm.train f32 3x2x9001:nhwc", "uniform:-3.4e38,3.4e38", "multi_pass"},
    {"batch_norm.train bf16 3x2x9001", "uniform:-3.3e38,3.3e38", "multi_pass"},
    {"batch_norm.train f32 3x2x9001", "constant:1e-42"},
    {"batch_norm.train f32 2000x12", "constant:1e-38", "persistent_grid"},
    {"batch_norm.train bf16 64x2x32x32", "normal:1e-38,1e-39"},
    {"batch_norm.infer f32 7x9x11", "normal:0,1e20"},
    {"batch_norm.infer f64 7x9x11:nhwc", "normal:0,1e200"},
    {"batch_norm.infer bf16 7x9x11:nhwc", "normal:0,1e30"},
    {"batch_norm.infer f32 4x4x4 eps=1e39", "normal:0,1"},
    {"batch_norm.infer f32 4x2x8x8 eps=1e39", "normal:0,1e18"},
    {"batch_norm.infer f32 4x2x8x8:nhwc eps=3e38", "normal:0,1.6e19"},
    {"batch_norm.train f32 4x2x8x8 momentum=0", "normal:0,3e19"},
    {"batch_norm.train f32 4x2x8x8:nhwc momentum=0.001", "normal:0,3e19"},
    {"batch_norm.train bf16 2x2x14x8x8:nhwc momentum=0 act=relu", "normal:1e30,1e30"},
    {"batch_norm.train f32 4x6x8x8", "normal:0,1e-20"},
    {"batch_norm.train f32 4x6x8x8:nhwc", "normal:0,1e-42"},
    {"batch_norm.infer bf16 4x8x16 eps=1e-46", "normal:0,1e-22"},
    {"batch_norm.infer f32 4x8x16:nhwc eps=1e-46", "normal:0,1e-25"},
    {"batch_norm.infer f64 4x8x16 eps=1e-310", "normal:0,1e-158"},
    {"batch_norm.train f16 4x4x4 eps=1e39", "normal:0,1"},
    // Norms of samples, whose regions are rows.
    {"layer_norm.fwd f16 6x640", "special"},
    {"layer_norm.fwd f32 6x64x64 axes=2 save", "special", "multi_pass"},
    {"layer_norm.fwd f64 6x1001 residual act=relu", "special", "persistent_block"},
    {"layer_norm.fwd f32 24x768", "normal:1e4,1"},
    {"layer_norm.fwd f32 6x16x24x28 axes=2", "constant:-3e38", "persistent_block"},
    {"layer_norm.fwd bf16 9x5000 eps=0", "normal:0,1e-30", "multi_pass"},
    {"layer_norm.fwd f32 3x9001", "uniform:-3.4e38,3.4e38"},
    {"layer_norm.fwd f32 16x1", "normal:1000,1"},
    {"rms_norm.fwd f16 6x640 save", "special"},
    {"rms_norm.fwd bf16 6x4096", "special", "multi_pass"},
    {"rms_norm.fwd bf16 6x4096 affine=both", "special", "persistent_block"},
    {"rms_norm.fwd f32 6x1023 save", "special", "persistent_block"},
    {"rms_norm.fwd f32 6x70000 save", "special", "multi_pass"},
    {"rms_norm.fwd f64 6x1024 save", "special", "persistent_block"},
    {"rms_norm.fwd f64 6x1024 act=swish", "special", "multi_pass"},
    {"rms_norm.fwd f32 9x5000 eps=0", "normal:0,1e-36"},
    {"rms_norm.fwd f32 9x5000 eps=0", "normal:0,1e-30", "multi_pass"},
    {"rms_norm.fwd f32 9x5000", "constant:3e38"},
    {"rms_norm.fwd bf16 9x70000", "constant:-3e38", "multi_pass"},
    {"rms_norm.fwd f16 9x512", "constant:6e4"},
    {"rms_norm.fwd f32 9x512 save", "constant:0"},
    {"rms_norm.fwd f32 16x1", "normal:1000,1"},
    {"group_norm.fwd bf16 3x6x33 groups=2 save", "special"},
    {"group_norm.fwd f32 3x6x32x32 groups=2 save", "special", "multi_pass"},
    {"group_norm.fwd f16 4x32x7x7 groups=8", "constant:6e4"},
    {"group_norm.fwd f32 2x4x1 groups=4", "normal:1000,1"},
    {"instance_norm.fwd f16 3x5x1025 save", "special"},
    {"instance_norm.fwd f64 3x5x64x64", "special", "multi_pass"},
};

TEST(NumericsTest, DifficultDataIsRight) {
  auto session = Session::Open(
      {.device = "sim:h200", .use_cache = false, .environment = OptionsFromEnvironment()});
  ASSERT_TRUE(session.ok()) << session.status();
  for (const NumericCase& one : kCases) {
    const Problem problem = *ParseProblem(one.line);
    const CaseOptions options{.strategy = one.strategy, .data = *ParseDataSpec(one.data)};
    const RunReport report = RunCase(**session, problem, options).report;
    EXPECT_TRUE(report.ok()) << one.line << " --data " << one.data << ": "
                             << report.error.value_or("");
  }
}

// Generated values, with one outlier of another size in every channel: it lies up to the square
// root of the region's size in deviations from the mean.
std::vector<HostTensor> WithOutliers(Session& session, const Problem& problem) {
  constexpr double kSizes[] = {301.7, -60.3, 1e4 / 3, -1e6 / 3, 6e4, 1e12 / 3};
  std::vector<HostTensor> inputs =
      RunCase(session, problem, Unchecked(OptionsFor("multi_pass"))).inputs;
  HostTensor& x = *FindRole(inputs, Role::kX);
  std::vector<double> values = ValuesOf(x);
  const Dims& strides = x.spec.strides;
  for (int64_t channel = 0; channel < problem.channels(); ++channel) {
    const double size = kSizes[channel % 6];
    if (problem.dtype == DType::kF16 && size > 65504) continue;
    values[channel % problem.dims[0] * strides[0] + channel * strides[1] + strides[2]] = size;
  }
  SetValues(values, x);
  return inputs;
}

TEST(NumericsTest, OutliersAreRight) {
  Session& session = SessionOn("sim:h200");
  for (const char* line :
       {"batch_norm.train f32 4x6x32x32", "batch_norm.train f32 16x12x56x56",
        "batch_norm.train f64 16x6x32x32", "batch_norm.train f16 16x6x56x56",
        "batch_norm.train bf16 8x7x31x31", "batch_norm.train f32 4x6x32x32:nhwc",
        "batch_norm.train f32 16x12x56x56:nhwc", "batch_norm.train f64 16x6x32x32:nhwc",
        "batch_norm.train f16 16x16x56x56:nhwc", "layer_norm.fwd f32 4x6x32x32 axes=2 save",
        "rms_norm.fwd f32 4x6x32x32 axes=2 save", "group_norm.fwd f16 4x6x32x32 groups=3",
        "instance_norm.fwd bf16 4x6x31x31", "instance_norm.fwd f64 4x6x32x32 save"}) {
    const Problem problem = ProblemOf(line);
    const std::vector<HostTensor> inputs = WithOutliers(session, problem);
    const bool column = absl::StrContains(line, "nhwc");
    for (const char* strategy : {column ? "persistent_grid" : "persistent_block", "multi_pass"}) {
      const RunReport report = RunCase(session, problem, OptionsFor(strategy), inputs).report;
      EXPECT_TRUE(report.ok()) << line << " --strategy " << strategy << ": "
                               << report.error.value_or("");
    }
  }
}

}  // namespace
}  // namespace onepass
