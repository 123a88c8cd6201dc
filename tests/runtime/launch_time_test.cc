#include "runtime/launch_time.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/device/registry.h"
#include "runtime/dynamic_library.h"
#include "tests/runtime/device/fake_libcuda.h"

namespace onepass {
namespace {

// On a driver that runs nothing and says of every launch how long it took.
class LaunchTimeTest : public testing::Test {
 protected:
  LaunchTimeTest()
      : library_(*DynamicLibrary::Open(ONEPASS_FAKE_LIBCUDA)),
        fake_(*library_.Find<FakeCuda*()>("FakeCudaState")()) {
    fake_.Reset();
    DeviceOptions options;
    options.cuda_driver = ONEPASS_FAKE_LIBCUDA;
    device_ = *OpenCudaDevice(0, options);
    Binary binary;
    binary.cubin = FakeCubin(90, {{.name = "k", .argument_bytes = 8, .pointer_offsets = {}}});
    module_ = *device_->Load(binary, std::vector<std::string>{"k"});
  }

  ~LaunchTimeTest() override {
    module_.reset();
    device_.reset();
    EXPECT_THAT(fake_.complaints, testing::IsEmpty());
    EXPECT_EQ(fake_.alive(), 0);
  }

  absl::StatusOr<double> Time() {
    const std::vector<uint8_t> argument(8);
    return MicrosecondsOfLaunch(*device_, 0, [&] {
      return device_->Launch({.module = module_.get(), .shape = {}, .arguments = argument}, 0);
    });
  }

  size_t launches() const { return fake_.launches.size(); }

  DynamicLibrary library_;
  FakeCuda& fake_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<LoadedModule> module_;
};

TEST_F(LaunchTimeTest, LongOnesAreAveragedOverTheLeastNumber) {
  fake_.launch_us = 250;
  EXPECT_DOUBLE_EQ(*Time(), 250);
  EXPECT_EQ(launches(), kWarmUps + kLeastLaunches);
}

TEST_F(LaunchTimeTest, ShortOnesAreRepeatedUntilTheClockCanTell) {
  fake_.launch_us = 1000.0 / 256;  // exact in the milliseconds that the driver tells
  EXPECT_DOUBLE_EQ(*Time(), fake_.launch_us);
  EXPECT_EQ(launches(), kWarmUps + kLeastLaunches + 128);
}

TEST_F(LaunchTimeTest, NumberIsBounded) {
  fake_.launch_us = 0;
  EXPECT_EQ(*Time(), 0);
  EXPECT_EQ(launches(), kWarmUps + kLeastLaunches + kMostLaunches);
}

TEST_F(LaunchTimeTest, FailedLaunchEndsTheMeasurement) {
  fake_.failures["cuLaunchKernelEx"] = 700;
  EXPECT_FALSE(Time().ok());
  EXPECT_EQ(launches(), 0);
}

TEST(LaunchTimeOnSimulatorTest, DeviceWithoutAClockSaysSo) {
  const auto device = OpenDevice("sim:h200");
  ASSERT_TRUE(device.ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(
      MicrosecondsOfLaunch(**device, 0, [] { return absl::OkStatus(); }).status()));
}

}  // namespace
}  // namespace onepass
