// Workspace: the scratch memory that a launch is given.
#pragma once

#include <cstdint>

#include "runtime/device/device.h"

namespace onepass {

inline constexpr int64_t kWorkspaceAlignment = 256;

// Scratch memory of one launch, at a multiple of kWorkspaceAlignment. Its first
// onepass_kernel::Arguments::kBarrierBytes are zero.
struct Workspace {
  DeviceAddress address = 0;
  int64_t bytes = 0;
};

}  // namespace onepass
