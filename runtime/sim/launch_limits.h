// Whether a chip can launch a kernel in a given shape, with the limits that the driver checks, and
// how many of its blocks run at once.
#pragma once

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/sim/gpu.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/module.h"

namespace onepass::sim {

inline constexpr int64_t kReservedSharedBytes = 1024;  // of each resident block

// The kernel that `shape` names; kInvalidArgument where there is none or its limits, or the chip's,
// forbid the grid, the block, the cluster or the shared memory.
absl::StatusOr<const Entry*> CheckShape(const Machine& machine, const Module& module,
                                        const LaunchShape& shape);

// By registers, shared memory, threads and blocks, at least 1. kInvalidArgument if one block needs
// more registers than there are.
absl::StatusOr<int> ResidentPerSm(const Machine& machine, const Entry& entry,
                                  const LaunchShape& shape);

struct Residence {
  std::array<uint32_t, 3> cluster = {1, 1, 1};  // that the launch asks for, or else the kernel
  uint32_t cluster_blocks = 1;
  int per_sm = 1;
  int blocks = 1;  // of the whole chip, in whole clusters
};

// kInvalidArgument where no cluster fits, or a cooperative grid does not fit at once.
absl::StatusOr<Residence> ResidenceOf(const Machine& machine, const Entry& entry,
                                      const LaunchShape& shape);

}  // namespace onepass::sim
