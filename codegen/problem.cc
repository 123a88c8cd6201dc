#include "codegen/problem.h"

#include <algorithm>

#include "codegen/operators.h"

namespace onepass {

absl::string_view ToString(Op op) { return kOperatorNames[static_cast<int>(op)]; }

bool IsNorm(Op op) { return (BitOf(op) & kNorms) != 0; }
bool IsBatchNorm(Op op) { return (BitOf(op) & kBatchNorms) != 0; }
bool IsPointwise(Op op) { return (BitOf(op) & kPointwise) != 0; }
bool IsPool(Op op) { return (BitOf(op) & kPools) != 0; }
bool IsGrad(Op op) { return (BitOf(op) & kGrads) != 0; }

namespace {

// Sizes beside a 0 may be as large as they like.
int64_t TimesUpToMost(int64_t one, int64_t other) {
  int64_t product;
  return __builtin_mul_overflow(one, other, &product) ? INT64_MAX : product;
}

}  // namespace

int64_t ElementsOf(llvm::ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (size == 0) return 0;
    product = TimesUpToMost(product, size);
  }
  return product;
}

int64_t Problem::spatial() const {
  return rank() > 2 ? ElementsOf(llvm::ArrayRef<int64_t>(dims).drop_front(2)) : 1;
}

int64_t Problem::elements() const { return ElementsOf(dims); }

bool Problem::operator==(const Problem& other) const {
  const auto same_expression = [&] {
    if (!expr || !other.expr) return expr == other.expr;
    return *expr == *other.expr;
  };
  const auto fields = [](const Problem& p) {
    return std::tie(p.op, p.dtype, p.dims, p.layout, p.strides, p.dy_strides, p.param, p.eps,
                    p.momentum, p.cumulative_batches, p.running_var, p.affine, p.groups, p.axes,
                    p.stats, p.recompute, p.save, p.residual, p.skip, p.batch_invariant, p.act,
                    p.operands, p.window, p.inplace, p.align, p.next);
  };
  return fields(*this) == fields(other) && same_expression();
}

Dims DenseStrides(const Dims& dims, Layout layout) {
  Dims strides(dims.size(), 1);
  const int rank = static_cast<int>(dims.size());
  const bool channels_last = layout == Layout::kChannelsLast && rank >= 3;
  int64_t step = 1;
  if (channels_last) {
    strides[1] = 1;
    step = std::max<int64_t>(dims[1], 1);
  }
  for (int axis = rank - 1; axis >= 0; --axis) {
    if (channels_last && axis == 1) continue;
    strides[axis] = step;
    step = TimesUpToMost(step, std::max<int64_t>(dims[axis], 1));
  }
  return strides;
}

namespace {

// A dimension of a NumPy broadcast; -1 where the two sizes disagree.
int64_t BroadcastSize(int64_t one, int64_t other) {
  if (one == other || other == 1) return one;
  return one == 1 ? other : -1;
}

Dims Broadcast(const Dims& one, const Dims& other) {
  const Dims& longer = one.size() >= other.size() ? one : other;
  const Dims& shorter = one.size() >= other.size() ? other : one;
  Dims result = longer;
  const size_t shift = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    result[shift + i] = BroadcastSize(longer[shift + i], shorter[i]);
    if (result[shift + i] < 0) return {};
  }
  return result;
}

}  // namespace

int64_t PoolOutputSize(int64_t input, const PoolWindow& window, int axis) {
  using Wide =
      __int128;  // sizes, pads and dilations are not checked yet where the parser calls this
  const Wide stride = window.stride[axis];
  if (stride < 1) return 0;
  const Wide extent = Wide(window.dilation[axis]) * (window.size[axis] - 1) + 1;
  const Wide room = Wide(input) + window.pad_begin[axis] + window.pad_end[axis] - extent;
  const Wide rounded = room + (window.ceil ? stride - 1 : 0);
  if (rounded < 0) return 0;
  Wide output = rounded / stride + 1;
  if (window.ceil && (output - 1) * stride >= Wide(input) + window.pad_begin[axis]) --output;
  return output > INT64_MAX ? INT64_MAX : static_cast<int64_t>(output);
}

Dims OutputDims(const Problem& problem) {
  Dims dims = problem.dims;
  for (const Operand& operand : problem.operands) {
    dims = Broadcast(dims, operand.dims);
    if (dims.empty()) return dims;
  }
  if (!IsPool(problem.op)) return dims;
  const PoolWindow& window = problem.window;
  const size_t axes = window.size.size();
  if (axes + 2 != dims.size()) return {};
  for (const Dims* each : {&window.stride, &window.pad_begin, &window.pad_end, &window.dilation}) {
    if (each->size() != axes) return {};
  }
  for (size_t axis = 0; axis < axes; ++axis) {
    dims[axis + 2] = PoolOutputSize(dims[axis + 2], window, static_cast<int>(axis));
  }
  return dims;
}

}  // namespace onepass
