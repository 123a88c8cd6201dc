// Which lanes of a logical operation have a result that undefined sources cannot change: "false and
// anything" is false. Compilers rely on it where they turn `i < n && a[i] < b` into an `and`.
#pragma once

#include <cstdint>

#include "runtime/sim/program.h"
#include "runtime/sim/warp.h"

namespace onepass::sim {

// `undefined[i]` holds the lanes in which r[i] is undefined.
uint32_t DecidedLanes(const Op& op, const Logic& logic, const Warp& warp,
                      const uint32_t (&undefined)[kMaxRefs]);

}  // namespace onepass::sim
