#include "codegen/counters.h"

#include <algorithm>

namespace onepass {
namespace {

// A share `busy` of the SMs draws at most 1.25 * busy of the bandwidth: the bytes in flight that
// saturate the memory are 1.25 times latency times bandwidth, spread over all SMs (DESIGN section
// 4).
double BandwidthShare(const Counters& counters) {
  return std::clamp(1.25 * counters.busy, 0.01, 1.0) * counters.overlap;
}

}  // namespace

double DramMicroseconds(const Counters& counters, const DeviceSpec& device) {
  return static_cast<double>(counters.dram_bytes()) / (device.dram_gbps * 1e3);
}

double L2Microseconds(const Counters& counters, const DeviceSpec& device) {
  return static_cast<double>(counters.l2_bytes) / (device.l2_gbps * 1e3);
}

double EstimateMicroseconds(const Counters& counters, const DeviceSpec& device) {
  const double memory =
      std::max(DramMicroseconds(counters, device), L2Microseconds(counters, device));
  return static_cast<double>(counters.launches) * device.launch_us +
         static_cast<double>(counters.grid_barriers) * device.grid_barrier_us +
         memory / BandwidthShare(counters);
}

}  // namespace onepass
