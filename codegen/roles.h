// The table of operators and roles: which tensors an operator reads and writes, with their types
// and sizes. This one table drives Validate's callers, .npy reading, the minimum traffic, the
// reference, the tests and the documentation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "codegen/problem.h"
#include "llvm/ADT/SmallVector.h"

namespace onepass {

enum class Role : uint8_t {
  kX,
  kDy,
  kResidual,
  kSkip,
  kA,
  kB,
  kC,
  kScale,
  kBias,
  kMean,
  kVar,
  kRunningMean,
  kRunningVar,
  kSavedMean,
  kSavedInvstd,
  kIndices,
  kY,
  kSum,
  kDx,
  kDresidual,
  kDa,
  kDb,
  kDc,
  kDscale,
  kDbias,
  kRunningMeanOut,
  kRunningVarOut,
};
inline constexpr int kRoleCount = static_cast<int>(Role::kRunningVarOut) + 1;

// "x", "running_mean_out": the name in messages, JSON and .npy files.
absl::string_view ToString(Role role);
std::optional<Role> ParseRole(absl::string_view text);

// One tensor of a problem.
struct TensorSpec {
  Role role = Role::kX;
  int stage = 0;  // position in a chain, 0 for the first
  DType dtype = DType::kF32;
  Dims dims;     // logical
  Dims strides;  // in elements; of size dims.size()
  bool output = false;
  // The buffer is the one of another tensor of the problem (running_mean_out on running_mean; y on
  // x with `inplace`).
  std::optional<Role> shares;

  std::string name() const;  // "scale", or "s2_scale" in a later stage
  int64_t elements() const;  // product of dims
  int64_t span_elements()
      const;  // elements between the first and the last one, inclusive; 0 if empty
};

// All tensors of a valid problem, inputs first, in the order of CONTRACT's table.
llvm::SmallVector<TensorSpec, 8> TensorsOf(const Problem& problem);

// Where a tensor of `dtype` lies under `align`: at addresses that are this modulo twice this; 0: as
// allocated, at least sector-aligned. `align`, but never less than an element.
int64_t OffsetOf(const Problem& problem, DType dtype);

// DESIGN section 4's minimum: 32 times the number of distinct 32-byte sectors, a tensor, that hold
// an element which the result depends on, or an output. Outputs that share an input's buffer count
// twice (read and written). Tensors are taken to begin where `align` asks, else sector-aligned.
// Pools: the elements that some window reaches. Costs microseconds; not for the hot path.
int64_t MinimumBytes(const Problem& problem);

}  // namespace onepass
