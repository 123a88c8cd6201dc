// A device that does nothing, so that what is left is the host's own time.
#pragma once

#include <memory>

#include "runtime/device/device.h"

namespace onepass::bench {

// An H200 as PlanFor sees it. Everything succeeds, copies nothing and launches nothing. Made where
// no caller can see into it, so that calls stay calls.
std::unique_ptr<Device> NewNullDevice();

}  // namespace onepass::bench
