// Where the values of a generated tensor come from.
#pragma once

#include <cstdint>
#include <memory>

#include "codegen/problem.h"
#include "codegen/roles.h"
#include "runtime/reference/generate.h"

namespace onepass {

// Elements of a run of a tensor: their logical positions, and in x of a norm their regions.
struct RunOfValues {
  int64_t logical, logical_step;
  int64_t region, region_step;
  int64_t within, within_step;
  int64_t length;
};

class ValueSource {
 public:
  virtual ~ValueSource() = default;
  // out[i] = the value of element i of the run. Thread safe.
  virtual void Fill(const RunOfValues& run, double* out) const = 0;
};

// The source that CONTRACT's "Generated inputs" asks for. `key` is the tensor's own random stream.
std::unique_ptr<ValueSource> SourceOf(const Problem& problem, const TensorSpec& spec,
                                      const DataSpec& data, uint64_t key);

}  // namespace onepass
