// Plan: how one Key is computed on one kind of device. A value that compares and prints itself.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "codegen/counters.h"
#include "codegen/device_spec.h"
#include "codegen/key.h"
#include "llvm/ADT/SmallVector.h"
#include "templates/arguments.cuh"

namespace onepass {

struct Plan {
  absl::string_view strategy;  // the name in the strategy table
  int threads = 0;             // of a block
  int vector = 1;              // elements of one access
  // Vectors that a thread holds in registers (persistent), or loads at once.
  int register_vectors = 0;
  int shared_vectors = 0;  // vectors that a thread holds in shared memory
  int write_vectors = 0;   // persistent: vectors whose epilogue is unrolled
  int tile_vectors = 0;    // Column: vectors across the tile of columns that a block works on
  int split = 1;           // blocks that share one reduction
  int slabs = 1;           // Column, persistent: rounds over the columns
  int blocks_per_sm = 1;   // resident blocks that the registers are limited for

  bool operator==(const Plan&) const = default;
};

// "persistent_block threads=512 vector=4 ..."; ParsePlan reads it back. Unknown strategies and
// fields are kInvalidArgument.
std::string ToString(const Plan& plan);
absl::StatusOr<Plan> ParsePlan(absl::string_view text);

// One kernel launch of a Plan for given Extents.
struct LaunchShape {
  int kernel = 0;  // index into Source::kernels
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  std::array<uint32_t, 3> cluster = {1, 1, 1};
  int64_t shared_bytes = 0;  // dynamic
  bool cooperative = false;
  bool operator==(const LaunchShape&) const = default;
};

// Everything that a launch of a planned kernel needs besides pointers.
struct Schedule {
  llvm::SmallVector<LaunchShape, 2> launches;
  // Scratch in device memory. The first `barrier_bytes` must be zero before the first launch; every
  // launch leaves them zero. One workspace may serve any kernels, one launch after another.
  int64_t workspace_bytes = 0;
  int64_t barrier_bytes = 0;

  // A workspace of the barrier words and `bytes` behind them.
  void NeedScratch(int64_t bytes) {
    barrier_bytes = onepass_kernel::Arguments::kBarrierBytes;
    workspace_bytes = barrier_bytes + bytes;
  }
};

// The source of a kernel, self-contained.
struct Source {
  std::string text;
  llvm::SmallVector<std::string, 2> kernels;  // extern "C" names
};

}  // namespace onepass
