// DeviceSpec: what the planner knows about a chip. Data; tests build one by hand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"

namespace onepass {

struct DeviceSpec {
  std::string name;  // "h200", or the driver's name of a real device
  int compute = 90;  // compute capability times ten: 80, 90, 100
  int sms = 0;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  int64_t registers_per_sm = 65536;  // 32-bit registers
  int64_t shared_bytes_per_sm = 0;
  int64_t shared_bytes_per_block = 0;  // with opt-in
  int64_t l2_bytes = 0;
  int64_t global_bytes = 0;
  double dram_gbps = 0;        // what a copy sustains, 1e9 bytes a second
  double l2_gbps = 0;          // what L2 hits sustain
  double latency_ns = 0;       // of a DRAM load
  double clock_ghz = 0;        // SM clock
  double launch_us = 0;        // one kernel launch in a stream
  double grid_barrier_us = 0;  // one barrier over all co-resident blocks

  std::string arch() const { return "sm_" + std::to_string(compute); }
  bool operator==(const DeviceSpec&) const = default;
};

// The rows: a100, h100, h200, b200.
llvm::ArrayRef<DeviceSpec> KnownDevices();
const DeviceSpec* FindDevice(absl::string_view name);

}  // namespace onepass
