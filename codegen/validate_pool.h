// Validate's part for pools.
#pragma once

#include "absl/status/status.h"
#include "codegen/problem.h"

namespace onepass {

// The window of a pool whose x has been checked. A window may be wider than its padding allows for
// in other libraries, and windows may lie wholly in padding; but every axis has at least one
// window, and only the batch may be empty.
absl::Status CheckPool(const Problem& problem);

}  // namespace onepass
