// Launches a kernel that nobody knows with arguments that may make sense.
#pragma once

#include "absl/status/status.h"
#include "runtime/sim/module.h"
#include "runtime/sim/random.h"

namespace onepass::sim {

// On a Gpu of its own: any of the devices, checked or not, in any order of warps, with few and
// mostly small blocks, buffers for what may be pointers and an early instruction limit.
absl::Status LaunchAtRandom(const Module& module, const Entry& entry, Random& random);

}  // namespace onepass::sim
