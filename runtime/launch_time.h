// How long a launch takes on a device that has a clock.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/device/device.h"

namespace onepass {

// The average over launches back to back in one stream: at least kLeastLaunches, and as many (up
// to kMostLaunches) as take kLeastMicroseconds together, after kWarmUps that do not count. What
// fits into the L2 cache is found there, and what a launch itself costs is hidden behind the launch
// before where that one is longer. `launch` puts one into the stream; it runs over and over on the
// same memory, so whoever wants its results takes them before. kFailedPrecondition on a device
// without a clock.
inline constexpr int kWarmUps = 2;
inline constexpr int kLeastLaunches = 10;
inline constexpr int kMostLaunches = 1000;
inline constexpr double kLeastMicroseconds = 500;

absl::StatusOr<double> MicrosecondsOfLaunch(Device& device, Stream stream,
                                            absl::FunctionRef<absl::Status()> launch);

}  // namespace onepass
