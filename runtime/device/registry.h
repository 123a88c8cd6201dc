// Devices by name: "auto", "cuda", "cuda:1", "sim:h200".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/device/device.h"

namespace onepass {

struct DeviceOptions {
  std::string cuda_driver = "libcuda.so.1";  // the driver library to load
  bool sanitize = false;                     // simulated devices: all checkers on
  uint64_t seed = 0;                         // simulated devices: the interleaving
  uint64_t approx_seed = 0;                  // simulated devices: sim::GpuOptions::approx_seed
  int host_threads = 0;                      // simulated devices: 0 is all cores
};

// Opens a device. "auto" is cuda:0 where there is one, else sim:h200. kInvalidArgument for an
// unknown name, kUnavailable where there is no driver or no such GPU, which says what would bring
// it.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(absl::string_view name,
                                                   const DeviceOptions& options = {});

// One device implementation each; see device.h.
absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int ordinal, const DeviceOptions& options);
absl::StatusOr<std::unique_ptr<Device>> OpenSimDevice(const DeviceSpec& spec,
                                                      const DeviceOptions& options);

}  // namespace onepass
