// What the simulated GPU has to know of a chip.
#pragma once

#include "codegen/device_spec.h"
#include "runtime/sim/machine.h"

namespace onepass {

sim::Machine MachineOf(const DeviceSpec& spec);

}  // namespace onepass
