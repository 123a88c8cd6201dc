// A problem as the planner sees it, before any memory or kernel exists: for `explain` and `emit`.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "codegen/device_spec.h"
#include "codegen/key.h"
#include "codegen/problem.h"
#include "runtime/cli/arguments.h"

namespace onepass::cli {

struct PlannedDevice {
  std::string name;  // "sim:h200"
  DeviceSpec spec;
};

// The device of --arch (where the command has that flag) or --device, not both. Errors name the
// flag.
absl::StatusOr<PlannedDevice> ReadPlannedDevice(const Arguments& arguments);

// The key of a problem whose tensors lie as `align` asks for, else as a device allocates them.
// kUnimplemented where no Key says all that the problem asks for.
absl::StatusOr<Key> PlannedKey(const Problem& problem);

}  // namespace onepass::cli
