// Whether a case fits before it is begun.
#pragma once

#include "absl/status/status.h"
#include "codegen/problem.h"
#include "runtime/device/device.h"

namespace onepass {

// kResourceExhausted, with the bytes wanted and the bytes there, where the problem's tensors are
// larger than the device's memory, or the copies that a run keeps of them than this machine's.
absl::Status CheckMemory(const Device& device, const Problem& problem);

}  // namespace onepass
