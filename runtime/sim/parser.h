// Reads PTX text into a syntax tree.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/sim/syntax.h"

namespace onepass::sim {

// `source` must outlive the tree. kInvalidArgument, one line with the PTX line, on a syntax error.
absl::StatusOr<Syntax> ParsePtx(std::string_view source);

}  // namespace onepass::sim
