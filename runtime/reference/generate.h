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

// All inputs of the problem in TensorsOf order; `given` are used as they are (they must match their
// specs), the others are generated from (seed, role) alone, so that a tensor's values depend
// neither on which others are given nor on the layout: element values follow logical order. On all
// cores.
//
// Where strides make logical elements share memory, the last in logical order wins; memory between
// strided elements is all ones, a NaN of every type. `special` for norms: region 0 of x holds one
// NaN and region 1 one Inf, each in the middle; region 2 is all 100; region 3 is a quarter of the
// largest, with alternating sign where its square is finite in the accumulation type; everything
// else, and dy, residual and skip, is normal.
std::vector<HostTensor> GenerateInputs(const Problem& problem, const DataSpec& data, uint64_t seed,
                                       std::vector<HostTensor> given);

}  // namespace onepass
