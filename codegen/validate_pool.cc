#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "codegen/number_text.h"
#include "codegen/problem_words.h"
#include "codegen/validate_parts.h"

namespace onepass {

namespace {

using absl::Status;

template <typename... Parts>
[[gnu::cold]] Status Invalid(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat(parts...));
}

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
  int64_t bytes = 8;  // of the indices, the widest tensor of y's dims
  for (int axis = 0; axis < p.rank(); ++axis) {
    const int64_t size = axis < 2 ? p.dims[axis] : PoolOutputSize(p.dims[axis], p.window, axis - 2);
    if (axis >= 2 && size == 0) {
      return Invalid("window: ", p.window.size[axis - 2], " does not fit the ", p.dims[axis],
                     " elements of axis ", axis, " of x and its padding");
    }
    if (__builtin_mul_overflow(bytes, size > 0 ? size : 1, &bytes)) {
      return Invalid("y: does not fit 63 bits of bytes");
    }
  }
  return absl::OkStatus();
}

}  // namespace onepass
