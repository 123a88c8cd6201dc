#include "codegen/strategy.h"

#include <algorithm>
#include <string>

#include "codegen/capacity.h"
#include "codegen/traffic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const DeviceSpec& Chip(absl::string_view name) { return *FindDevice(name); }

Key KeyOfLine(absl::string_view line, int alignment = 16) {
  const absl::StatusOr<Problem> problem = ParseProblem(line);
  EXPECT_TRUE(problem.ok()) << problem.status();
  return KeyOf(*problem, alignment);
}

std::string Chosen(absl::string_view line, absl::string_view chip = "h200") {
  const absl::StatusOr<Plan> plan = PlanFor(KeyOfLine(line), Chip(chip));
  return plan.ok() ? std::string(plan->strategy) : plan.status().ToString();
}

constexpr const char* kLines[] = {
    "relu.fwd f32 1x64x56x56",
    "batch_norm.infer f16 8x256x14x14:nhwc act=relu",
    "batch_norm.train f32 32x64x56x56 act=relu",
    "batch_norm.train f32 32x256x14x14",
    "batch_norm.train f16 3x5x7x7",
    "batch_norm.train bf16 32x64x56x56:nhwc residual act=relu",
    "batch_norm.train f64 4x35x9x9:nhwc",
    "batch_norm.train f16 4x70000",
    "batch_norm.train f32 1000000x1",
    "batch_norm.train f32 256x64x112x112:nhwc",
    "batch_norm.train f16 12288x8192",
    "batch_norm.train f16 28672x8192",
    "batch_norm.train bf16 200000x256 act=swish",
    "layer_norm.fwd bf16 8192x4096 residual",
    "layer_norm.fwd f32 3x33554432 affine=none",
    "rms_norm.fwd f16 1000000x1",
    "group_norm.fwd f16 8x320x64x64 groups=32 act=swish",
    "instance_norm.fwd f64 2x3x511x513 save",
};

TEST(StrategyTest, EveryRefusalGivesItsReasonAndEveryAcceptanceAPlan) {
  for (const char* line : kLines) {
    for (const Candidate& candidate : Candidates(KeyOfLine(line), Chip("h200"))) {
      EXPECT_EQ(candidate.refusal.empty(), !candidate.plans.empty())
          << line << ' ' << candidate.strategy->name;
    }
  }
}

TEST(StrategyTest, SomethingAcceptsEveryLineOnEveryChip) {
  for (const char* line : kLines) {
    for (const DeviceSpec& device : KnownDevices()) {
      EXPECT_TRUE(PlanFor(KeyOfLine(line), device).ok()) << line << " on " << device.name;
    }
  }
}

TEST(StrategyTest, PersistentIsChosenWhereARowFits) {
  EXPECT_EQ(Chosen("batch_norm.train f32 32x256x14x14"), "persistent_block");
  EXPECT_EQ(Chosen("batch_norm.train f16 32x256x28x28:nhwc"), "persistent_grid");
  EXPECT_EQ(Chosen("layer_norm.fwd bf16 8192x4096"), "persistent_block");
  EXPECT_EQ(Chosen("group_norm.fwd f16 8x320x64x64 groups=32"), "persistent_block");
}

TEST(StrategyTest, MultiPassIsChosenWhereNoBlockHoldsARow) {
  EXPECT_EQ(Chosen("batch_norm.train f32 32x64x112x112"), "multi_pass");
  EXPECT_EQ(Chosen("rms_norm.fwd f32 64x400000"), "multi_pass");
}

// 401,408 bytes a channel: more than an H200's block holds.
TEST(StrategyTest, ARowThatDoesNotFitIsRefusedWithBothNumbers) {
  const absl::StatusOr<Plan> plan =
      PlanFor(KeyOfLine("batch_norm.train f32 32x64x56x56"), Chip("h200"), "persistent_block");
  EXPECT_TRUE(absl::IsUnimplemented(plan.status()));
  EXPECT_THAT(plan.status().message(), AllOf(HasSubstr("401408"), HasSubstr("385024")));
}

TEST(StrategyTest, ForcingAnUnknownNameIsInvalid) {
  const absl::StatusOr<Plan> plan =
      PlanFor(KeyOfLine("relu.fwd f32 8"), Chip("h200"), "persistent_gird");
  EXPECT_TRUE(absl::IsInvalidArgument(plan.status()));
  EXPECT_THAT(plan.status().message(), HasSubstr("persistent_gird"));
}

TEST(StrategyTest, AnOperatorWithoutKernelsIsNamed) {
  const absl::StatusOr<Plan> plan = PlanFor(KeyOfLine("batch_norm.grad f32 4x8x5x5"), Chip("h200"));
  EXPECT_TRUE(absl::IsUnimplemented(plan.status()));
  EXPECT_THAT(plan.status().message(), HasSubstr("batch_norm.grad"));
}

TEST(StrategyTest, ASlabIsUsedWhereTheTensorDoesNotFitTheChip) {
  const Key key = KeyOfLine("batch_norm.train f16 32x1024x56x56:nhwc");  // 205 MB
  const absl::StatusOr<Plan> plan = PlanFor(key, Chip("h200"), "persistent_grid");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_GT(plan->slabs, 1);
  EXPECT_GT(plan->split, 1);
}

// All plans of all lines on all chips.
template <typename Body>
void ForEachPlan(absl::string_view strategy, Body body) {
  for (const char* line : kLines) {
    const Key key = KeyOfLine(line);
    for (const DeviceSpec& device : KnownDevices()) {
      for (const Candidate& candidate : Candidates(key, device)) {
        if (candidate.strategy->name != strategy) continue;
        for (const Plan& plan : candidate.plans) body(key, plan, device);
      }
    }
  }
}

TEST(StrategyTest, CooperativeGridsAreCoResident) {
  ForEachPlan("persistent_grid", [](const Key& key, const Plan& plan, const DeviceSpec& device) {
    const Schedule schedule = ScheduleOf(key, plan, RepresentativeExtents(key));
    if (!schedule.launches[0].cooperative) return;
    EXPECT_LE(schedule.launches[0].grid[0], device.sms) << ToString(plan);
  });
}

// The declarations of templates/column_persistent_grid.cuh, in values of the arithmetic type.
TEST(StrategyTest, StaticAndDynamicSharedMemoryFitABlock) {
  ForEachPlan("persistent_grid", [](const Key& key, const Plan& plan, const DeviceSpec& device) {
    const int64_t columns = int64_t{plan.tile_vectors} * plan.vector;
    const int64_t values =
        std::max(plan.threads / 32 * columns, int64_t{3} * plan.threads) + 5 * columns;
    const int64_t bytes =
        values * SizeOf(AccumulationType(key.dtype)) +
        ScheduleOf(key, plan, RepresentativeExtents(key)).launches[0].shared_bytes;
    EXPECT_LE(bytes, device.shared_bytes_per_block) << ToString(plan) << " on " << device.name;
  });
}

TEST(StrategyTest, BarrierWordsFitTheirPlaceInEveryWorkspace) {
  ForEachPlan("persistent_grid", [](const Key& key, const Plan& plan, const DeviceSpec& device) {
    const Schedule schedule = ScheduleOf(key, plan, RepresentativeExtents(key));
    if (schedule.workspace_bytes == 0) return;
    EXPECT_EQ(schedule.barrier_bytes, onepass_kernel::Arguments::kBarrierBytes);
    EXPECT_LE(8 * schedule.launches[0].grid[0] / plan.split, schedule.barrier_bytes);
  });
}

TEST(StrategyTest, PlansRoundTripThroughText) {
  for (const char* line : kLines) {
    for (const Candidate& candidate : Candidates(KeyOfLine(line), Chip("b200"))) {
      for (const Plan& plan : candidate.plans) {
        const absl::StatusOr<Plan> parsed = ParsePlan(ToString(plan));
        ASSERT_TRUE(parsed.ok()) << parsed.status();
        EXPECT_EQ(*parsed, plan);
      }
    }
  }
}

TEST(StrategyTest, PlanTextThatIsNoPlanIsRefused) {
  for (const char* text :
       {"", "no_such threads=1", "flat threads", "flat threads=x", "flat speed=3"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParsePlan(text).status())) << text;
  }
}

TEST(StrategyTest, HeldVectorsCoverTheLargestRowOfTheClass) {
  for (const char* line : kLines) {
    const Key key = KeyOfLine(line);
    for (const Candidate& candidate : Candidates(key, Chip("h200"))) {
      if (candidate.strategy->name != "persistent_block") continue;
      for (const Plan& plan : candidate.plans) {
        const int64_t held =
            int64_t{plan.register_vectors + plan.shared_vectors} * plan.threads * plan.vector;
        EXPECT_GE(held, key.reduce_class * key.inner) << line;
      }
    }
  }
}

TEST(TrafficTest, OnePassMovesEveryTensorOnce) {
  const Key key = KeyOfLine("batch_norm.train f32 32x64x56x56 residual");
  const Extents extents = ExtentsOf(*ParseProblem("batch_norm.train f32 32x64x56x56 residual"));
  const Counters counters = OnePassCounters(key, extents, 0);
  const int64_t tensor = int64_t{32} * 64 * 56 * 56 * 4, channels = 64 * 4;
  EXPECT_EQ(counters.dram_read_bytes, 2 * tensor + 4 * channels);
  EXPECT_EQ(counters.dram_write_bytes, tensor + 4 * channels);
}

TEST(TrafficTest, SampleNormsReadParametersOnceAndSaveWhatIsAskedFor) {
  const auto counters = [](const char* line) {
    return OnePassCounters(KeyOfLine(line), ExtentsOf(*ParseProblem(line)), 0);
  };
  const int64_t tensor = int64_t{512} * 1024 * 2;
  const Counters layer = counters("layer_norm.fwd f16 512x1024");
  EXPECT_EQ(layer.dram_read_bytes, tensor + 2 * 1024 * 4);
  EXPECT_EQ(layer.dram_write_bytes, tensor);
  const Counters saves = counters("layer_norm.fwd f16 512x1024 save affine=none");
  EXPECT_EQ(saves.dram_read_bytes, tensor);
  EXPECT_EQ(saves.dram_write_bytes, tensor + 2 * 512 * 4);
  EXPECT_EQ(counters("rms_norm.fwd f16 512x1024 save").dram_write_bytes, tensor + 512 * 4);
  const Counters group = counters("group_norm.fwd f16 8x64x32x32 groups=16 save param=f16");
  EXPECT_EQ(group.dram_read_bytes, tensor + 2 * 64 * 2);
  EXPECT_EQ(group.dram_write_bytes, tensor + 2 * 8 * 16 * 4);
}

TEST(TrafficTest, TwoPassesRereadWhatL2DoesNotHold) {
  const absl::string_view line = "batch_norm.train f32 32x64x112x112";
  const Key key = KeyOfLine(line);
  const Extents extents = ExtentsOf(*ParseProblem(line));
  const int64_t x = BytesOf(key, extents).x;
  const Counters one = OnePassCounters(key, extents, 0);
  EXPECT_EQ(TwoPassCounters(key, extents, 0, Chip("h200")).dram_bytes(),
            one.dram_bytes() + x - Chip("h200").l2_bytes);
  EXPECT_EQ(TwoPassCounters(key, extents, 0, Chip("b200")).dram_bytes(), one.dram_bytes());
}

TEST(CapacityTest, ResidentBlocksObeyEveryLimit) {
  const DeviceSpec& chip = Chip("h200");
  EXPECT_EQ(ResidentBlocks(chip, 1024, 32, 0), 2);
  EXPECT_EQ(ResidentBlocks(chip, 32, 16, 0), 32);
  EXPECT_EQ(ResidentBlocks(chip, 512, 128, 0), 1);
  EXPECT_EQ(ResidentBlocks(chip, 128, 32, 100 * 1024), 2);
}

}  // namespace
}  // namespace onepass
