#include "runtime/device/cuda_spec.h"

#include <cuda.h>

#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace onepass {
namespace {

// What a copy sustains of the memory's peak: 0.88-0.91 on the devices of KnownDevices.
constexpr double kSustained = 0.9;

const DeviceSpec& NearestKnown(int compute) {
  const DeviceSpec* nearest = &KnownDevices().front();
  for (const DeviceSpec& known : KnownDevices()) {
    if (std::abs(known.compute - compute) < std::abs(nearest->compute - compute)) nearest = &known;
  }
  return *nearest;
}

}  // namespace

absl::StatusOr<DeviceSpec> ReadCudaSpec(const CudaDriver& driver, int device) {
  auto attribute = [&](CUdevice_attribute which) { return driver.Attribute(device, which); };
  absl::StatusOr<std::string> name = driver.DeviceName(device);
  if (!name.ok()) return name.status();
  absl::StatusOr<int64_t> memory = driver.DeviceMemory(device);
  if (!memory.ok()) return memory.status();

  DeviceSpec spec;
  spec.name = *name;
  spec.global_bytes = *memory;
  spec.compute = 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                 attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  spec.sms = attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  spec.max_threads_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  spec.max_blocks_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  spec.registers_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  spec.shared_bytes_per_sm = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  spec.shared_bytes_per_block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  spec.l2_bytes = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  spec.clock_ghz = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1e-6;
  if (spec.sms <= 0 || spec.compute <= 0 || spec.shared_bytes_per_block <= 0) {
    return absl::InternalError(absl::StrCat("the driver tells no sizes of ", *name));
  }

  const DeviceSpec& known = NearestKnown(spec.compute);
  if (spec.clock_ghz <= 0) spec.clock_ghz = known.clock_ghz;
  const double scale = spec.sms * spec.clock_ghz / (known.sms * known.clock_ghz);
  // kHz times bits, two transfers a clock.
  spec.dram_gbps = kSustained * 2e-6 * attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                   attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
  if (spec.dram_gbps <= 0) spec.dram_gbps = known.dram_gbps * scale;
  spec.l2_gbps = known.l2_gbps * scale;
  spec.latency_ns = known.latency_ns;
  spec.launch_us = known.launch_us;
  spec.grid_barrier_us = known.grid_barrier_us;
  return spec;
}

}  // namespace onepass
