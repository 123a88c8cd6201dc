// DRAM bytes as the simulated GPU counts them, against the planner's closed forms, the minimum and
// DESIGN section 4's formula for two passes. Limits hold from a megabyte of minimum up.
#include "codegen/traffic.h"

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "codegen/roles.h"
#include "gtest/gtest.h"
#include "tests/runtime/simulated_case.h"

namespace onepass {
namespace {

constexpr int64_t kFromHere = 1'000'000;
constexpr int kAlignment = 16;

// 2S + O - min(S, L S / (S + O)): S is what both passes read (x), O everything else that the second
// one touches.
double TwoPassFormula(const Problem& problem, const DeviceSpec& device) {
  double x = 0, other = 0;
  for (const TensorSpec& spec : TensorsOf(problem)) {
    const double bytes = static_cast<double>(spec.elements()) * SizeOf(spec.dtype);
    (spec.role == Role::kX ? x : other) += bytes;
  }
  const double found = std::min(x, static_cast<double>(device.l2_bytes) * x / (x + other));
  return 2 * x + other - found;
}

struct Expected {
  std::string line;
  std::string device;
  std::string strategy;
};

void PrintTo(const Expected& e, std::ostream* out) {
  *out << e.strategy << " of " << e.line << " on " << e.device;
}

std::string Name(const Expected& e, const Plan& plan) {
  return absl::StrCat("\n  onepass run --device sim:", e.device, " --strategy ", e.strategy, " ",
                      e.line, "\n  ", ToString(plan));
}

void ExpectTraffic(const Expected& e, const Problem& problem, const Plan& plan,
                   const Counters& counted, const DeviceSpec& device) {
  const Key key = KeyOf(problem, kAlignment);
  const auto bytes = static_cast<double>(counted.dram_bytes());
  const auto minimum = static_cast<double>(MinimumBytes(problem));
  const Counters prediction = Predict(key, plan, ExtentsOf(problem), device);
  const auto predicted = static_cast<double>(prediction.dram_bytes());
  const double l2 =
      static_cast<double>(counted.l2_bytes) / static_cast<double>(prediction.l2_bytes);
  std::printf("  %-17s %-52s %7.2f MB, %.4f of the minimum, %.4f of the prediction, L2 %.3f\n",
              std::string(plan.strategy).c_str(), e.line.c_str(), bytes * 1e-6, bytes / minimum,
              bytes / predicted, l2);
  EXPECT_GE(bytes, minimum) << Name(e, plan);
  if (minimum < kFromHere) return;
  EXPECT_NEAR(bytes / predicted, 1, 0.02) << Name(e, plan);
  // The closed form of L2 bytes has neither the sectors at the ends of ragged rows, asked for
  // twice, nor the parameters of regions of a few values, nor the spreads that L1 serves to a
  // second block of an SM. Contiguous rows, whose segments are single accesses, count as ragged.
  const bool ragged = key.access_bytes < 16 || key.inner * key.element_bytes() % 32 != 0;
  if (!ragged && !TakesSaved(plan, ExtentsOf(problem))) {
    EXPECT_LE(l2, 1.06) << Name(e, plan);
    EXPECT_GE(l2, 0.9) << Name(e, plan);
  }
  const double limit = plan.strategy == "multi_pass" ? TwoPassFormula(problem, device) : minimum;
  EXPECT_LE(bytes, 1.02 * limit) << Name(e, plan);
}

// Every plan of one strategy, or only the best.
void ExpectTrafficOfPlans(const Expected& e, bool all_plans) {
  Session& session = SessionOn("sim:" + e.device);
  const DeviceSpec& device = session.device().spec();
  const Problem problem = ProblemOf(e.line);
  const Key key = KeyOf(problem, kAlignment);
  bool accepted = false;
  for (const Candidate& candidate : Candidates(key, device)) {
    if (candidate.strategy->name != e.strategy || !candidate.refusal.empty()) continue;
    accepted = true;
    const size_t plans = all_plans ? candidate.plans.size() : 1;
    for (const Plan& plan : llvm::ArrayRef<Plan>(candidate.plans).take_front(plans)) {
      auto kernel = PlannedKernel::Build(session, session.device(), key, plan);
      ASSERT_TRUE(kernel.ok()) << kernel.status() << Name(e, plan);
      const auto counted = kernel->Count(problem);
      ASSERT_TRUE(counted.ok()) << counted.status() << Name(e, plan);
      ExpectTraffic(e, problem, plan, *counted, device);
    }
  }
  EXPECT_TRUE(accepted) << e.strategy << " refuses " << e.line << " on " << e.device;
}

// Between one and ten megabytes: rows and columns, ragged ones too, every type.
const Expected kFewMegabytes[] = {
    {"relu.fwd f16 8x64x28x28", "h200", "flat"},
    {"pointwise.fwd f32 131077 act=sigmoid", "h200", "flat"},
    {"batch_norm.infer bf16 8x64x28x28:nhwc residual act=relu", "h200", "flat"},
    {"batch_norm.infer f32 4x65x31x29", "h200", "flat"},
    {"batch_norm.infer f32 65536x3", "h200", "flat"},
    {"batch_norm.train f32 16x256x14x14", "h200", "persistent_block"},
    {"batch_norm.train f16 32x64x28x28 residual act=relu", "h200", "persistent_block"},
    {"batch_norm.train bf16 16x96x17x19", "h200", "persistent_block"},
    {"batch_norm.train f64 8x64x19x19", "a100", "persistent_block"},
    {"batch_norm.train f32 16x256x14x14", "b200", "multi_pass"},
    {"batch_norm.train f16 32x64x28x28 residual act=relu", "h200", "multi_pass"},
    {"batch_norm.train bf16 16x96x17x19", "a100", "multi_pass"},
    {"batch_norm.train f32 400000x1", "h200", "multi_pass"},
    {"batch_norm.train f16 16x256x14x14:nhwc residual act=relu", "h200", "persistent_grid"},
    {"batch_norm.train f32 16x64x28x28:nhwc", "a100", "persistent_grid"},
    {"batch_norm.train bf16 16x33x28x28:nhwc", "h200", "persistent_grid"},
    {"batch_norm.train f32 4x70000", "h200", "persistent_grid"},
    {"batch_norm.train f64 512x300", "b200", "persistent_grid"},
    {"batch_norm.train f16 16x256x14x14:nhwc residual act=relu", "h200", "multi_pass"},
    {"batch_norm.train f32 16x64x28x28:nhwc", "a100", "multi_pass"},
    {"batch_norm.train bf16 16x33x28x28:nhwc", "h200", "multi_pass"},
    {"batch_norm.train f32 100x7000", "h200", "multi_pass"},
    {"batch_norm.train f32 4x70000", "h200", "multi_pass"},
    {"batch_norm.train f64 3x50000", "a100", "multi_pass"},
    {"batch_norm.train f32 2x70000x4", "h200", "multi_pass"},
    {"batch_norm.train f32 300x7000", "h200", "multi_pass"},
    {"layer_norm.fwd bf16 8192x1024", "h200", "persistent_block"},
    {"layer_norm.fwd bf16 1024x4096 residual save", "h200", "persistent_block"},
    {"layer_norm.fwd f32 3001x333", "a100", "persistent_block"},
    {"layer_norm.fwd f16 1501x1047 affine=none", "h200", "persistent_block"},
    {"layer_norm.fwd f64 517x1022 param=f32", "b200", "persistent_block"},
    {"rms_norm.fwd f16 2048x2048 save", "h200", "persistent_block"},
    {"rms_norm.fwd bf16 900x2100 act=swish", "a100", "persistent_block"},
    {"group_norm.fwd f16 4x320x32x32 groups=32 act=swish", "h200", "persistent_block"},
    {"group_norm.fwd bf16 9x96x17x19 groups=12", "h200", "persistent_block"},
    {"instance_norm.fwd f32 8x64x28x28", "h200", "persistent_block"},
    {"instance_norm.fwd f16 8x65x31x29 save", "b200", "persistent_block"},
    {"layer_norm.fwd f32 7x210000", "h200", "multi_pass"},
    {"rms_norm.fwd bf16 11x400001 save", "a100", "multi_pass"},
    {"group_norm.fwd f16 2x64x64x256 groups=8", "h200", "multi_pass"},
};

TEST(TrafficTest, BestPlansMoveWhatIsPredictedAndNoMore) {
  for (const Expected& e : kFewMegabytes) ExpectTrafficOfPlans(e, /*all_plans=*/false);
}

// Neighbours share sectors, and L2 cannot wait for the slower one.
TEST(TrafficTest, RaggedRowsBeyondL2MoveWhatIsPredictedAndNoMore) {
  for (const Expected& e :
       {Expected{"batch_norm.train bf16 71x33x97x99:nhwc", "h200", "multi_pass"},
        Expected{"batch_norm.train f32 35x65x50x97:nhwc", "a100", "multi_pass"},
        Expected{"batch_norm.train bf16 41x64x97x97", "h200", "multi_pass"}})
    ExpectTrafficOfPlans(e, /*all_plans=*/false);
}

TEST(TrafficTest, SlowEveryPlanMovesWhatIsPredictedAndNoMore) {
  for (const Expected& e : kFewMegabytes) ExpectTrafficOfPlans(e, /*all_plans=*/true);
}

// Larger than L2: 50 MB on an H200, 40 MB on an A100.
const Expected kLargerThanL2[] = {
    {"batch_norm.train f32 64x64x64x64", "h200", "multi_pass"},
    {"batch_norm.train f32 32x64x96x96:nhwc", "h200", "multi_pass"},
    {"batch_norm.train f32 32x64x80x80", "a100", "multi_pass"},
    {"rms_norm.fwd f32 60x300000", "h200", "multi_pass"},
    {"batch_norm.train f32 32x64x95x97", "h200", "multi_pass"},
    {"batch_norm.train f32 32x64x80x80:nhwc", "a100", "multi_pass"},
};

class LargerThanL2Test : public testing::TestWithParam<Expected> {};

TEST_P(LargerThanL2Test, SecondPassFindsWhatL2CanHold) {
  ExpectTrafficOfPlans(GetParam(), /*all_plans=*/false);
}

INSTANTIATE_TEST_SUITE_P(MultiPass, LargerThanL2Test, testing::ValuesIn(kLargerThanL2),
                         [](const auto& e) {
                           return absl::StrCat(
                               e.param.device,
                               absl::StrContains(e.param.line, "nhwc") ? "Column" : "Row", e.index);
                         });

TEST(LargerThanL2SlowTest, WithResidualAndInHalfTypes) {
  for (const char* line :
       {"batch_norm.train f16 64x64x96x96:nhwc", "batch_norm.train bf16 64x64x96x96:nhwc act=relu",
        "batch_norm.train f16 64x64x96x96:nhwc residual act=relu"}) {
    for (const char* device : {"h200", "a100"})
      ExpectTrafficOfPlans({line, device, "multi_pass"}, /*all_plans=*/true);
  }
  for (const char* line :
       {"batch_norm.train f16 128x64x64x64", "batch_norm.train bf16 128x64x64x64 act=relu",
        "batch_norm.train f16 128x64x64x64 residual act=relu"}) {
    ExpectTrafficOfPlans({line, "h200", "multi_pass"}, /*all_plans=*/true);
  }
}

// Accesses of 2 and 4 bytes, without hints: the second launch's order alone decides.
TEST(LargerThanL2SlowTest, Ragged) {
  for (const char* line : {"batch_norm.train bf16 41x64x97x97", "batch_norm.train f16 64x512x31x31",
                           "batch_norm.train f32 36x63x97x99:nhwc"}) {
    ExpectTrafficOfPlans({line, "h200", "multi_pass"}, /*all_plans=*/false);
  }
}

TEST(TrafficTest, CountsDoNotDependOnHostThreads) {
  Session& session = SessionOn("sim:h200");
  const auto one = *OpenDevice("sim:h200", {.host_threads = 1});
  const auto two = *OpenDevice("sim:h200", {.host_threads = 2});
  for (const char* line :
       {"relu.fwd f16 8x64x28x28", "batch_norm.infer f32 4x65x31x29",
        "batch_norm.train bf16 16x96x17x19", "batch_norm.train f32 1000x16x3x3",
        "batch_norm.train f16 16x256x14x14:nhwc", "batch_norm.train f32 16x33x9x9:nhwc",
        "layer_norm.fwd bf16 300x1047", "group_norm.fwd f16 4x64x16x16 groups=8"}) {
    const Problem problem = ProblemOf(line);
    const Key key = KeyOf(problem, kAlignment);
    for (const Candidate& candidate : Candidates(key, session.device().spec())) {
      if (!candidate.refusal.empty()) continue;
      Counters counted[2];
      for (int i : {0, 1}) {
        auto kernel = PlannedKernel::Build(session, i == 0 ? *one : *two, key, candidate.plans[0]);
        ASSERT_TRUE(kernel.ok()) << kernel.status();
        const auto counters = kernel->Count(problem);
        ASSERT_TRUE(counters.ok()) << counters.status();
        counted[i] = *counters;
      }
      EXPECT_EQ(counted[0] == counted[1], true)
          << line << ' ' << candidate.strategy->name << ": " << counted[0].dram_bytes() << " and "
          << counted[1].dram_bytes() << " DRAM bytes, " << counted[0].l2_bytes << " and "
          << counted[1].l2_bytes << " L2 bytes";
    }
  }
}

}  // namespace
}  // namespace onepass
