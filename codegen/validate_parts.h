// Validate's parts for kinds of operators. x, its sizes and its rank have been checked.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "codegen/problem.h"

namespace onepass {

// The two kinds of refusal, with a message in pieces. Cold, so that a valid problem pays for none.
template <typename... Parts>
[[gnu::cold]] absl::Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

template <typename... Parts>
[[gnu::cold]] absl::Status Unimplemented(const Parts&... parts) {
  return absl::UnimplementedError(absl::StrCat(parts...));
}

// Numbers, groups, axes and flags of a norm.
absl::Status CheckNorm(const Problem& problem);

// The window of a pool. A window may be wider than its padding allows for
// in other libraries, and windows may lie wholly in padding; but every axis has at least one
// window, and only the batch may be empty.
absl::Status CheckPool(const Problem& problem);

}  // namespace onepass
