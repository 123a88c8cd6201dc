// Activations in double or long double.
#pragma once

#include <cstdint>

#include "codegen/activation.h"

namespace onepass {

// values[i] = act(values[i]). Relative accuracy of a few units of Real over the whole range, tails
// included; at the infinities the limits; NaN stays NaN. Real is double or long double.
template <typename Real>
void ApplyActivation(const Activation& act, Real* values, int64_t count);

// The largest slope of the activation; infinity where it has none (a jump, or growth without
// bound).
double SlopeBound(const Activation& act);

}  // namespace onepass
