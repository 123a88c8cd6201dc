#include "codegen/device_spec.h"

namespace onepass {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kMiB = 1024 * kKiB;
constexpr int64_t kGB = 1000 * 1000 * 1000;

// Sizes and clocks: NVIDIA's tuning guides and data sheets for compute capability 8.0, 9.0
// and 10.0. dram_gbps is what a copy sustains, about 0.9 of the data sheet's peak. l2_gbps,
// latency_ns, launch_us and grid_barrier_us are published micro-benchmark figures, rounded; they
// rank plans and are not promises.
const DeviceSpec kDevices[] = {
    {.name = "a100",
     .compute = 80,
     .sms = 108,
     .shared_bytes_per_sm = 164 * kKiB,
     .shared_bytes_per_block = 163 * kKiB,
     .l2_bytes = 40 * kMiB,
     .global_bytes = 80 * kGB,
     .dram_gbps = 1800,
     .l2_gbps = 4500,
     .latency_ns = 560,
     .clock_ghz = 1.41,
     .launch_us = 2.5,
     .grid_barrier_us = 1.6},
    {.name = "h100",
     .compute = 90,
     .sms = 132,
     .shared_bytes_per_sm = 228 * kKiB,
     .shared_bytes_per_block = 227 * kKiB,
     .l2_bytes = 50 * kMiB,
     .global_bytes = 80 * kGB,
     .dram_gbps = 3000,
     .l2_gbps = 5600,
     .latency_ns = 620,
     .clock_ghz = 1.83,
     .launch_us = 2.2,
     .grid_barrier_us = 1.4},
    {.name = "h200",
     .compute = 90,
     .sms = 132,
     .shared_bytes_per_sm = 228 * kKiB,
     .shared_bytes_per_block = 227 * kKiB,
     .l2_bytes = 50 * kMiB,
     .global_bytes = 141 * kGB,
     .dram_gbps = 4300,
     .l2_gbps = 5600,
     .latency_ns = 620,
     .clock_ghz = 1.83,
     .launch_us = 2.2,
     .grid_barrier_us = 1.4},
    {.name = "b200",
     .compute = 100,
     .sms = 148,
     .shared_bytes_per_sm = 228 * kKiB,
     .shared_bytes_per_block = 227 * kKiB,
     .l2_bytes = 126 * kMiB,
     .global_bytes = 180 * kGB,
     .dram_gbps = 7200,
     .l2_gbps = 10000,
     .latency_ns = 700,
     .clock_ghz = 1.85,
     .launch_us = 2.2,
     .grid_barrier_us = 1.5},
};

}  // namespace

llvm::ArrayRef<DeviceSpec> KnownDevices() { return kDevices; }

const DeviceSpec* FindDevice(absl::string_view name) {
  for (const DeviceSpec& device : kDevices) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

}  // namespace onepass
