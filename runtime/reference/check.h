// The comparison behind "ok" (CONTRACT, "Tensors by role").
//
// |got - want| <= 2 u_T |want| + 16 u_A M + half the least subnormal of T, where u is the unit
// roundoff, T the output's type, A the accumulation type; the last term is what rounding below the
// normal range costs. M is the reference's:
//   norm outputs            |scale| (1 + |mean| invstd), and |residual| where one is added; the
//   mean
//                           of an RMS norm is 0
//   ... through activations L (M + |v|/8) + ulp/8 |y|: L the largest slope, v the value before, ulp
//   the table's
//                           bound for A. Piecewise linear ones that are exact: L M. Those without a
//                           bound on the slope: what they move by over the tolerance of v
//   saved_mean              mean |x|
//   saved_invstd            invstd (1 + |mean| invstd)
//   running_mean_out        |1-m| |old| + |m| mean |x|
//   running_var_out         |1-m| |old| + |m| (var + |mean| std)
// Pointwise: |got - want| <= (bound + 1/2) ulp of T, with the bound of the activation's row, which
// is against the value rounded once.
//
// Classes: NaN where NaN is wanted, the same infinity where one is wanted. A finite value from
// where T rounds to infinity on may be either, within the tolerance.
#pragma once

#include <optional>
#include <string>

#include "llvm/ADT/SmallVector.h"
#include "runtime/reference/reference.h"

namespace onepass {

struct OutputCheck {
  bool ok = true;
  // Over all elements; null where one is not finite.
  std::optional<double> max_abs_error;
  std::optional<double> max_ulp_error;  // in ulp of the output type at the wanted value
  // The worst element is the one with the largest error over its tolerance.
  double tolerance = 0;
  std::optional<double> worst_error;  // absolute
  Dims worst_index;                   // logical; empty if there are no elements
  int64_t mismatches = 0;  // elements out of tolerance, or of another class of NaN or Inf
};

// On all cores. The saved statistics of an empty x are nobody's to write, so they are not compared.
OutputCheck CheckOutput(const Problem& problem, const Reference& reference, const HostTensor& got);

}  // namespace onepass
