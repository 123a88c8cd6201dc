// Reads PTX text into a syntax tree.
#ifndef ONEPASS_RUNTIME_SIM_PARSER_H_
#define ONEPASS_RUNTIME_SIM_PARSER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/sim/syntax.h"

namespace onepass::sim {

// `source` must outlive the tree. kInvalidArgument, one line with the PTX line, on a syntax error.
absl::StatusOr<Syntax> ParsePtx(std::string_view source);

}  // namespace onepass::sim

#endif  // ONEPASS_RUNTIME_SIM_PARSER_H_
