// The door: a Problem that passes here makes every later stage total.
#pragma once

#include "absl/status/status.h"
#include "codegen/problem.h"

namespace onepass {

// kInvalidArgument (exit 2) where the values do not make sense together; the message names the
// argument and the two values that disagree. kUnimplemented (exit 3) where the mathematics forbids
// what was asked (in-place where an input is still needed). Zero-sized tensors are valid, whatever
// their other sizes. Products of sizes, in bytes, must fit 63 bits. Cost on a valid problem without
// chain or expression: well under 100 ns, no allocation.
absl::Status Validate(const Problem& problem);

}  // namespace onepass
