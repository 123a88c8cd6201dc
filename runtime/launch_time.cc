#include "runtime/launch_time.h"

#include <algorithm>
#include <cmath>

namespace onepass {
namespace {

absl::Status LaunchOften(int launches, absl::FunctionRef<absl::Status()> launch) {
  for (int i = 0; i < launches; ++i) {
    if (absl::Status s = launch(); !s.ok()) return s;
  }
  return absl::OkStatus();
}

// Microseconds of all of them together.
absl::StatusOr<double> Measure(Device& device, Stream stream, int launches,
                               absl::FunctionRef<absl::Status()> launch) {
  if (absl::Status s = device.BeginMeasure(stream); !s.ok()) return s;
  absl::Status status = LaunchOften(launches, launch);
  const absl::StatusOr<Measurement> measured = device.EndMeasure(stream);
  status.Update(measured.status());
  if (!status.ok()) return status;
  if (!measured->microseconds.has_value()) {
    return absl::FailedPreconditionError("this device measures no time");
  }
  return *measured->microseconds;
}

}  // namespace

absl::StatusOr<double> MicrosecondsOfLaunch(Device& device, Stream stream,
                                            absl::FunctionRef<absl::Status()> launch) {
  if (absl::Status s = LaunchOften(kWarmUps, launch); !s.ok()) return s;
  int launches = kLeastLaunches;
  absl::StatusOr<double> together = Measure(device, stream, launches, launch);
  if (together.ok() && *together < kLeastMicroseconds) {
    const double each = std::max(*together / launches, kLeastMicroseconds / kMostLaunches);
    launches = std::min(kMostLaunches, static_cast<int>(std::ceil(kLeastMicroseconds / each)));
    together = Measure(device, stream, launches, launch);
  }
  if (!together.ok()) return together;
  return *together / launches;
}

}  // namespace onepass
