// Inputs that are computed from x: the saved statistics that a norm's gradient reads, and the
// indices that a max pool's gradient reads.
#pragma once

#include "runtime/reference/reference.h"

namespace onepass {

// x as the problem describes it, whether the operator reads it or not.
TensorSpec SpecOfX(const Problem& problem);

// The tensor of role saved_mean, saved_invstd or indices, in float64 and rounded once.
HostTensor DeriveInput(const Problem& problem, const TensorSpec& spec, const HostTensor& x);

}  // namespace onepass
