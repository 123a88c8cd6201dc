// Generated inputs (CONTRACT, "Generated inputs").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/reference/reference.h"

namespace onepass {

struct DataSpec {
  enum class Kind { kNormal, kUniform, kConstant, kSpecial };
  Kind kind = Kind::kNormal;
  double a = 0, b = 1;  // MEAN,STD or LO,HI or V
};

// "normal:0,1", "uniform:-1,1", "constant:3", "special".
absl::StatusOr<DataSpec> ParseDataSpec(absl::string_view text);

// All inputs of the problem in TensorsOf order; `given` are used as they are (they must match their specs), the
// others are generated from (seed, role) alone, so that a tensor's values depend neither on which others are given
// nor on the layout: element values follow logical order.
std::vector<HostTensor> GenerateInputs(const Problem& problem, const DataSpec& data, uint64_t seed,
                                       std::vector<HostTensor> given);

}  // namespace onepass
