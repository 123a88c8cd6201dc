#include "runtime/reference/derived_inputs.h"

#include <cmath>
#include <vector>

#include "codegen/operators.h"
#include "runtime/reference/element.h"
#include "runtime/reference/parallel.h"
#include "runtime/reference/regions.h"

namespace onepass {

namespace {

std::vector<double> SavedStatistic(const Problem& p, Role role, const HostTensor& x) {
  const std::vector<Moments> moments = MomentsOf(p, RegionsOf(p), x.bytes.data());
  std::vector<double> values;
  for (const Moments& each : moments) {
    const long double spread = IsRmsNorm(p.op) ? each.mean_square : each.variance;
    const long double invstd = 1 / std::sqrt(spread + static_cast<long double>(p.eps));
    values.push_back(static_cast<double>(role == Role::kSavedMean ? each.mean : invstd));
  }
  return values;
}

// One N,C plane of a max pool. Planes have up to three axes; missing ones have size 1.
class MaxPlane {
 public:
  explicit MaxPlane(const Problem& p) {
    const Dims y = OutputDims(p);
    for (size_t axis = 0; axis < p.window.size.size(); ++axis) {
      const size_t to = 3 - p.window.size.size() + axis;
      in_[to] = p.dims[axis + 2];
      out_[to] = y[axis + 2];
      size_[to] = p.window.size[axis];
      step_[to] = p.window.stride[axis];
      pad_[to] = p.window.pad_begin[axis];
      dilation_[to] = p.window.dilation[axis];
    }
  }

  int64_t inputs() const { return in_[0] * in_[1] * in_[2]; }
  int64_t outputs() const { return out_[0] * out_[1] * out_[2]; }

  // The flat input index of the maximum of window `o`; the first one, or the first NaN; -1 without
  // any.
  int64_t ArgMax(const double* plane, int64_t o) const {
    const int64_t at[3] = {o / (out_[1] * out_[2]), o / out_[2] % out_[1], o % out_[2]};
    int64_t best = -1;
    Span(0, at[0], [&](int64_t d) {
      Span(1, at[1], [&](int64_t h) {
        Span(2, at[2], [&](int64_t w) {
          const int64_t index = (d * in_[1] + h) * in_[2] + w;
          const double value = plane[index];
          const bool better = best < 0 || (!std::isnan(plane[best]) && !(value <= plane[best]));
          if (better) best = index;
        });
      });
    });
    return best;
  }

 private:
  // The valid positions of window `o` along an axis.
  template <typename Visit>
  void Span(int axis, int64_t o, Visit visit) const {
    const int64_t begin = o * step_[axis] - pad_[axis], dilation = dilation_[axis];
    int64_t tap = begin >= 0 ? 0 : (-begin + dilation - 1) / dilation;
    for (; tap < size_[axis] && begin + tap * dilation < in_[axis]; ++tap)
      visit(begin + tap * dilation);
  }

  int64_t in_[3] = {1, 1, 1}, out_[3] = {1, 1, 1}, size_[3] = {1, 1, 1};
  int64_t step_[3] = {1, 1, 1}, pad_[3] = {0, 0, 0}, dilation_[3] = {1, 1, 1};
};

// The memory position of element `flat` of plane `plane` of a tensor.
int64_t PositionOf(const TensorSpec& spec, int64_t plane, int64_t flat) {
  int64_t position =
      plane / spec.dims[1] * spec.strides[0] + plane % spec.dims[1] * spec.strides[1];
  for (size_t axis = spec.dims.size(); axis-- > 2;) {
    position += flat % spec.dims[axis] * spec.strides[axis];
    flat /= spec.dims[axis];
  }
  return position;
}

void MaxIndices(const Problem& p, const HostTensor& x, HostTensor& indices) {
  const MaxPlane plane(p);
  ParallelFor(p.dims[0] * p.dims[1], [&](int64_t nc) {
    std::vector<double> values(plane.inputs());
    for (int64_t i = 0; i < plane.inputs(); ++i) {
      LoadElements(x.spec.dtype, x.bytes.data(), PositionOf(x.spec, nc, i), 1, 1, &values[i]);
    }
    for (int64_t o = 0; o < plane.outputs(); ++o) {
      const double index = static_cast<double>(plane.ArgMax(values.data(), o));
      StoreElements(DType::kI64, &index, 1, PositionOf(indices.spec, nc, o), 1,
                    indices.bytes.data());
    }
  });
}

}  // namespace

TensorSpec SpecOfX(const Problem& problem) {
  TensorSpec spec;
  spec.role = Role::kX;
  spec.dtype = problem.dtype;
  spec.dims = problem.dims;
  spec.strides =
      problem.strides.empty() ? DenseStrides(problem.dims, problem.layout) : problem.strides;
  return spec;
}

HostTensor DeriveInput(const Problem& problem, const TensorSpec& spec, const HostTensor& x) {
  HostTensor tensor{spec, {}};
  tensor.bytes.resize(spec.span_elements() * SizeOf(spec.dtype));
  if (spec.role == Role::kIndices) {
    MaxIndices(problem, x, tensor);
    return tensor;
  }
  const std::vector<double> values = SavedStatistic(problem, spec.role, x);
  StoreElements(spec.dtype, values.data(), values.size(), 0, 1, tensor.bytes.data());
  return tensor;
}

}  // namespace onepass
