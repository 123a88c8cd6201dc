#include "runtime/case_run.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/launch_time.h"
#include "tests/runtime/simulated_case.h"

namespace onepass {
namespace {

// A simulated GPU that passes for a real one: launches run, and each takes 100 us by its clock.
class ClockedDevice final : public Device {
 public:
  static constexpr double kLaunchUs = 100;

  explicit ClockedDevice(std::unique_ptr<Device> inner, int& launches)
      : inner_(std::move(inner)), launches_(launches) {}

  const std::string& name() const override { return inner_->name(); }
  const DeviceSpec& spec() const override { return inner_->spec(); }
  bool simulated() const override { return false; }
  absl::StatusOr<DeviceAddress> Allocate(const Allocation& allocation) override {
    return inner_->Allocate(allocation);
  }
  absl::Status Free(DeviceAddress address) override { return inner_->Free(address); }
  absl::Status CopyIn(DeviceAddress to, llvm::ArrayRef<uint8_t> from) override {
    return inner_->CopyIn(to, from);
  }
  absl::Status CopyOut(llvm::MutableArrayRef<uint8_t> to, DeviceAddress from) override {
    return inner_->CopyOut(to, from);
  }
  absl::Status Fill(DeviceAddress address, uint8_t byte, int64_t bytes) override {
    return inner_->Fill(address, byte, bytes);
  }
  absl::StatusOr<std::unique_ptr<LoadedModule>> Load(const Binary& binary,
                                                     llvm::ArrayRef<std::string> kernels) override {
    return inner_->Load(binary, kernels);
  }
  absl::Status Launch(const KernelLaunch& launch, Stream stream) override {
    ++launches_;
    return inner_->Launch(launch, stream);
  }
  absl::Status Synchronize(Stream stream) override { return inner_->Synchronize(stream); }
  absl::Status BeginMeasure(Stream) override {
    begun_at_ = launches_;
    return absl::OkStatus();
  }
  absl::StatusOr<Measurement> EndMeasure(Stream) override {
    Measurement measurement;
    measurement.microseconds = kLaunchUs * (launches_ - begun_at_);
    return measurement;
  }

 private:
  const std::unique_ptr<Device> inner_;
  int& launches_;
  int begun_at_ = 0;
};

class CaseRunTest : public testing::Test {
 protected:
  CaseRunTest() {
    auto device = OpenDevice("sim:h200");
    Session::Settings settings;
    settings.environment = TestOptions();
    session_ =
        Session::On(std::make_unique<ClockedDevice>(*std::move(device), launches_), settings);
  }

  int launches_ = 0;
  std::unique_ptr<Session> session_;
};

// Each launch moves the running statistics on; those of the first one are checked and returned.
TEST_F(CaseRunTest, ResultsAreTheFirstLaunchsHoweverOftenItIsTimed) {
  const Problem problem = ProblemOf("batch_norm.train f32 4x8x5x5 momentum=0.5");
  const CaseResult timed = RunCase(*session_, problem, {});
  ASSERT_TRUE(timed.report.ok()) << timed.report.error.value_or("");
  EXPECT_EQ(launches_, 1 + kWarmUps + kLeastLaunches);
  const CaseResult once = RunCase(SessionOn("sim:h200"), problem, {});
  ASSERT_EQ(timed.outputs.size(), once.outputs.size());
  for (size_t i = 0; i < once.outputs.size(); ++i) {
    EXPECT_EQ(timed.outputs[i].bytes, once.outputs[i].bytes) << once.outputs[i].spec.name();
  }
}

TEST_F(CaseRunTest, LaunchTimeIsThatOfOneLaunch) {
  const CaseResult result = RunCase(*session_, ProblemOf("relu.fwd f32 64"), {});
  ASSERT_TRUE(result.report.ok()) << result.report.error.value_or("");
  EXPECT_DOUBLE_EQ(result.report.time->launch_us.value_or(0), ClockedDevice::kLaunchUs);
  EXPECT_FALSE(result.report.traffic.has_value());
}

TEST_F(CaseRunTest, EmptyProblemIsNotTimed) {
  const CaseResult result = RunCase(*session_, ProblemOf("relu.fwd f32 0"), {});
  EXPECT_TRUE(result.report.ok());
  EXPECT_FALSE(result.report.time->launch_us.has_value());
  EXPECT_EQ(launches_, 0);
}

TEST(CaseRunOnSimulatorTest, HasNoLaunchTime) {
  const CaseResult result = RunCase(SessionOn("sim:h200"), ProblemOf("relu.fwd f32 64"), {});
  EXPECT_FALSE(result.report.time->launch_us.has_value());
}

}  // namespace
}  // namespace onepass
