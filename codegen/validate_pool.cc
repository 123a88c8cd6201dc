#include <cmath>
#include <cstdint>

#include "codegen/number_text.h"
#include "codegen/problem_words.h"
#include "codegen/validate_parts.h"

namespace onepass {

namespace {

using absl::Status;

// Every value of one key: as many as there are spatial axes, from `least` to what 32 bits hold, so
// that no sum or product of two of them and a size overflows.
Status CheckValues(absl::string_view name, const Dims& values, size_t axes, int64_t least) {
  if (values.size() != axes) {
    return Invalid(name, ": has ", values.size(), values.size() == 1 ? " axis" : " axes",
                   " but x has ", axes, " spatial ", axes == 1 ? "axis" : "axes");
  }
  for (int64_t value : values) {
    if (value < least) return Invalid(name, ": ", value, " is less than ", least);
    if (value > INT32_MAX) return Invalid(name, ": ", value, " is more than ", INT32_MAX);
  }
  return absl::OkStatus();
}

Status CheckWindow(const PoolWindow& window, size_t axes) {
  if (window.size.empty()) return Invalid("window: a pool needs it");
  struct {
    absl::string_view name;
    const Dims& values;
    int64_t least;
  } const keys[] = {
      {"window", window.size, 1}, {"stride", window.stride, 1},     {"pad", window.pad_begin, 0},
      {"pad", window.pad_end, 0}, {"dilation", window.dilation, 1},
  };
  for (const auto& key : keys) {
    if (Status status = CheckValues(key.name, key.values, axes, key.least); !status.ok())
      return status;
  }
  if (window.divisor < 0) return Invalid("divisor: ", window.divisor, " is less than 1");
  if (!(window.p > 0) || std::isinf(window.p)) {
    return Invalid("p: ", PrintNumber(window.p), " is not a finite number above 0");
  }
  return absl::OkStatus();
}

}  // namespace

Status CheckPool(const Problem& p) {
  for (int axis = 1; axis < p.rank(); ++axis) {
    if (p.dims[axis] == 0)
      return Invalid("dims: only the batch of a pool may be 0, not ", PrintSizes(p.dims));
  }
  const size_t axes = p.dims.size() - 2;
  if (Status status = CheckWindow(p.window, axes); !status.ok()) return status;
  Dims y(p.dims.begin(), p.dims.begin() + 2);
  for (int axis = 2; axis < p.rank(); ++axis) {
    y.push_back(PoolOutputSize(p.dims[axis], p.window, axis - 2));
    if (y.back() == 0) {
      return Invalid("window: ", p.window.size[axis - 2], " does not fit the ", p.dims[axis],
                     " elements of axis ", axis, " of x and its padding");
    }
  }
  constexpr int64_t kWidest = 8;  // an index, of the tensors of y's dims
  if (ElementsOf(y) > INT64_MAX / kWidest) return Invalid("y: does not fit 63 bits of bytes");
  return absl::OkStatus();
}

}  // namespace onepass
