// Counters: what a launch costs, predicted in closed form by the planner or counted by a simulated
// device; and the one time model over them.
#pragma once

#include <cstdint>

#include "codegen/device_spec.h"

namespace onepass {

struct Counters {
  int64_t dram_read_bytes = 0;
  int64_t dram_write_bytes = 0;
  int64_t l2_bytes = 0;           // sectors that reach L2, times 32
  int64_t warp_instructions = 0;  // 0: unknown
  int64_t grid_barriers = 0;      // barriers over several blocks that stand one after another
  int64_t launches = 0;
  // Share of the device's SMs that work, averaged over the launch's waves, 0..1.
  double busy = 1.0;
  // Share of the time in which memory is asked for: 1 where loads overlap stores.
  double overlap = 1.0;
  // Counted only (a prediction leaves them 0).
  int64_t sectors_requested = 0;
  int64_t useful_bytes = 0;
  int64_t bank_conflicts = 0;
  double pipe_us = 0;  // of the slowest pipe
  int64_t bytes_in_flight_per_sm = 0;

  int64_t dram_bytes() const { return dram_read_bytes + dram_write_bytes; }
  bool operator==(const Counters&) const = default;
};

double DramMicroseconds(const Counters& counters, const DeviceSpec& device);
double L2Microseconds(const Counters& counters, const DeviceSpec& device);
double EstimateMicroseconds(const Counters& counters, const DeviceSpec& device);

}  // namespace onepass
