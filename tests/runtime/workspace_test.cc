// One workspace serves any kernels, one launch after another.
#include <algorithm>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/device_tensors.h"
#include "runtime/reference/check.h"
#include "runtime/reference/generate.h"
#include "runtime/session.h"

namespace onepass {
namespace {

struct Step {
  const char* line;
  const char* strategy;
};

constexpr Step kSteps[] = {
    {"batch_norm.train f32 32x64x14x14:nhwc", "persistent_grid"},
    {"batch_norm.train f32 16x48x14x14:nhwc", "multi_pass"},
    {"batch_norm.train f16 32x256x7x7:nhwc", "persistent_grid"},
    {"batch_norm.train f32 8x5x64x64", "multi_pass"},
    {"batch_norm.train f32 32x64x14x14:nhwc", "persistent_grid"},
};

class WorkspaceTest : public ::testing::Test {
 protected:
  WorkspaceTest() {
    auto opened = Session::Open(
        {.device = "sim:h200", .use_cache = false, .environment = OptionsFromEnvironment()});
    EXPECT_TRUE(opened.ok()) << opened.status();
    session_ = *std::move(opened);
  }

  Schedule ScheduleOfStep(const Step& step) {
    const auto schedule =
        session_->EngineFor(step.strategy).ScheduleFor(*ParseProblem(step.line), 16);
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return *schedule;
  }

  void ExpectRight(const Step& step, Workspace workspace) {
    const Problem problem = *ParseProblem(step.line);
    auto tensors = DeviceTensors::Allocate(session_->device(), problem);
    ASSERT_TRUE(tensors.ok()) << tensors.status();
    const std::vector<HostTensor> inputs = GenerateInputs(problem, DataSpec{}, 1, {});
    ASSERT_TRUE(tensors->CopyIn(inputs).ok());
    ASSERT_TRUE(
        session_->EngineFor(step.strategy).Run(problem, tensors->buffers(), workspace, 0).ok());
    const auto outputs = tensors->CopyOutputs();
    ASSERT_TRUE(outputs.ok());
    const auto reference = Reference::Create(problem, inputs);
    ASSERT_TRUE(reference.ok());
    for (const HostTensor& output : *outputs) {
      EXPECT_TRUE(CheckOutput(problem, **reference, output).ok)
          << step.line << ' ' << output.spec.name();
    }
  }

  std::unique_ptr<Session> session_;
};

TEST_F(WorkspaceTest, ServesDifferentKernelsInTurn) {
  int64_t bytes = 0;
  for (const Step& step : kSteps) bytes = std::max(bytes, ScheduleOfStep(step).workspace_bytes);
  Device& device = session_->device();
  const auto workspace = device.Allocate({.bytes = bytes, .label = "workspace"});
  ASSERT_TRUE(workspace.ok());
  ASSERT_TRUE(device.Fill(*workspace, 0xff, bytes).ok());
  ASSERT_TRUE(device.Fill(*workspace, 0, onepass_kernel::Arguments::kBarrierBytes).ok());
  for (const Step& step : kSteps) {
    EXPECT_EQ(ScheduleOfStep(step).barrier_bytes, onepass_kernel::Arguments::kBarrierBytes);
    ExpectRight(step, {.address = *workspace, .bytes = bytes});
    std::vector<uint8_t> words(onepass_kernel::Arguments::kBarrierBytes);
    ASSERT_TRUE(device.CopyOut(llvm::MutableArrayRef(words), *workspace).ok());
    EXPECT_EQ(std::count(words.begin(), words.end(), 0), onepass_kernel::Arguments::kBarrierBytes)
        << "after " << step.line;
  }
}

TEST_F(WorkspaceTest, AMisalignedOneIsRefused) {
  const Problem problem = *ParseProblem(kSteps[0].line);
  auto tensors = DeviceTensors::Allocate(session_->device(), problem);
  ASSERT_TRUE(tensors.ok());
  const absl::Status status = session_->EngineFor("").Run(
      problem, tensors->buffers(), {.address = 0x10010, .bytes = int64_t{1} << 30}, 0);
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
}

}  // namespace
}  // namespace onepass
