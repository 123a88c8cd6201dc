// The comparison behind "ok" (CONTRACT, "Tensors by role").
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "runtime/reference/reference.h"

namespace onepass {

struct OutputCheck {
  bool ok = true;
  std::optional<double> max_abs_error;  // null where it is not finite
  std::optional<double> max_ulp_error;  // in ulp of the output type at the wanted value
  double tolerance = 0;                 // at the worst element
  int64_t mismatches = 0;               // elements out of tolerance, or of another class of NaN or Inf
  Dims worst_index;                     // logical
};

// On all cores.
OutputCheck CheckOutput(const Problem& problem, const Reference& reference, const HostTensor& got);

}  // namespace onepass
