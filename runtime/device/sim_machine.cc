#include "runtime/device/sim_machine.h"

namespace onepass {

sim::Machine MachineOf(const DeviceSpec& spec) {
  sim::Machine machine;
  machine.name = spec.name;
  machine.sms = spec.sms;
  machine.arch = spec.compute;
  machine.clock_ghz = spec.clock_ghz;
  // An A100's SM has half an H100's lanes for f32 and f64; the other pipes are alike.
  machine.fma_lanes = spec.compute >= 90 ? 128 : 64;
  machine.fp64_lanes = spec.compute >= 90 ? 64 : 32;
  machine.max_cluster_blocks = spec.compute >= 90 ? 16 : 1;
  machine.max_threads_per_sm = spec.max_threads_per_sm;
  machine.max_blocks_per_sm = spec.max_blocks_per_sm;
  machine.registers_per_sm = static_cast<int>(spec.registers_per_sm);
  machine.shared_bytes_per_sm = spec.shared_bytes_per_sm;
  machine.shared_bytes_per_block = spec.shared_bytes_per_block;
  machine.l1_bytes_per_sm = spec.shared_bytes_per_sm + 28 * 1024;
  machine.l2_bytes = spec.l2_bytes;
  machine.global_bytes = spec.global_bytes;
  return machine;
}

}  // namespace onepass
