// Data that shows a wrong order of operations: far from the mean, constant, infinite.
#include <string>

#include "gtest/gtest.h"
#include "runtime/case_run.h"
#include "runtime/session.h"

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

}  // namespace
}  // namespace onepass
