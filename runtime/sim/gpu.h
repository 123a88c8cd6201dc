// One simulated GPU: memory, caches, SMs. It executes the kernels of Modules and counts.
//
// Not thread-safe: one caller at a time. Launch uses host threads of its own.
//
// Status codes of Launch:
//   kInvalidArgument  the request is wrong: unknown entry, wrong number of parameter bytes, a block
//                     or its shared memory too large, a cooperative grid or a cluster that cannot
//                     be co-resident
//   kResourceExhausted  variables do not fit into the device's memory, resident blocks not into
//                     GpuOptions::state_limit
//   kOutOfRange       the kernel read or wrote outside a buffer, or misaligned
//   kAborted          trap, deadlock, divergent barrier, instruction limit
// Faults are one line: kernel, what happened, buffer, index, block, thread, PTX line and text.
// After a fault memory holds what had been written until then; the Gpu stays usable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "runtime/sim/counts.h"
#include "runtime/sim/finding.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/memory.h"
#include "runtime/sim/module.h"

namespace onepass::sim {

struct GpuOptions {
  // Orders warps, lanes and blocks; results of race-free kernels do not depend on it. 0 is the fast
  // one: blocks take long turns, on all host threads at a time, so that unordered accesses of
  // several blocks to one word may end otherwise the next time. Any other is an interleaving of
  // short turns on one host thread that repeats bit for bit, whatever the kernel does.
  uint64_t seed = 0;
  // How `.approx` operations err: 0 as little as the simulator can, 1 upwards and 2 downwards as
  // far as their documentation lets them, any other anywhere in between. The same bits for the same
  // operands. See runtime/sim/perturb.h.
  uint64_t approx_seed = 0;
  int host_threads = 0;                          // 0: all cores
  int64_t instruction_limit = int64_t{1} << 38;  // warp instructions of one launch
  int64_t state_limit = int64_t{8} << 30;  // bytes of registers, shared and local memory of all
                                           // resident blocks, which the host has to hold
  bool count_traffic = true;               // sectors, caches, DRAM and bank conflicts
  bool sanitize = false;                   // the checkers that cost time
  bool record_forms = false;               // for TakeForms
};

struct LaunchShape {
  std::string entry;
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1};
  int64_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  // From the cubin where it is known; 0: Entry::register_estimate. Decides how many blocks fit.
  int registers_per_thread = 0;
};

class Gpu {
 public:
  explicit Gpu(Machine machine, GpuOptions options = {});
  ~Gpu();
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  const Machine& machine() const;
  GlobalMemory& memory();

  // Runs the kernel to its end. `parameters` are Entry::parameter_bytes bytes, laid out as the
  // entry says. Variables of the module live on this Gpu from its first launch until Unload.
  absl::Status Launch(const Module& module, const LaunchShape& shape,
                      absl::Span<const uint8_t> parameters);
  void Unload(const Module& module);

  // How many blocks of this shape one SM holds at a time; at least 1, or the error of Launch.
  absl::StatusOr<int> MaxResidentBlocksPerSm(const Module& module, const LaunchShape& shape) const;

  // What was counted since the last call. Dirty lines of L2 are written back (and counted) and L2
  // is cold afterwards, so a sequence of launches is counted with a cold start and a final
  // write-back.
  Counts TakeCounts();
  // Makes L2 cold without counting its write-back.
  void DropCaches();
  std::vector<Finding> TakeFindings();
  // The forms of the instructions that warps came to since the last call, sorted: "ld.global.f32".
  std::vector<std::string> TakeForms();
  // What kernels printed since the last call, in the order of the calls.
  std::string TakePrinted();

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace onepass::sim
