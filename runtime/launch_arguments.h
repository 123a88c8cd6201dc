// The parameter block of a launch.
#pragma once

#include "codegen/key.h"
#include "codegen/plan.h"
#include "runtime/device/device.h"
#include "templates/arguments.cuh"

namespace onepass {

// Addresses and sizes as templates/arguments.cuh names them. Running statistics are updated in
// their input's buffer.
onepass_kernel::Arguments ArgumentsOf(const Buffers& buffers, const Extents& extents,
                                      const Plan& plan, DeviceAddress workspace);

}  // namespace onepass
