// DeviceSpec of a real GPU, any model.
#pragma once

#include "absl/status/statusor.h"
#include "codegen/device_spec.h"
#include "runtime/device/cuda_driver.h"

namespace onepass {

// `device` is the driver's handle. Sizes and clocks are the driver's attributes. dram_gbps is nine
// tenths of what clock and width of the memory give. What no attribute tells (L2's bandwidth,
// latencies, launch costs) is that of the known device with the nearest compute capability,
// bandwidths scaled by SMs and clock.
absl::StatusOr<DeviceSpec> ReadCudaSpec(const CudaDriver& driver, int device);

}  // namespace onepass
