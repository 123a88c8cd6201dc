// Tensors small enough to write down, for the tests of this folder.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "codegen/problem.h"
#include "runtime/reference/element.h"
#include "runtime/reference/reference.h"

namespace onepass {

// Memory positions of the elements in logical order.
inline std::vector<int64_t> Positions(const TensorSpec& spec) {
  std::vector<int64_t> positions = {0};
  for (size_t axis = 0; axis < spec.dims.size(); ++axis) {
    std::vector<int64_t> next;
    for (int64_t position : positions) {
      for (int64_t i = 0; i < spec.dims[axis]; ++i)
        next.push_back(position + i * spec.strides[axis]);
    }
    positions = std::move(next);
  }
  return positions;
}

// A tensor with these values in logical order.
inline HostTensor TensorOf(const TensorSpec& spec, const std::vector<double>& values) {
  HostTensor tensor{spec, {}};
  tensor.bytes.resize(spec.span_elements() * SizeOf(spec.dtype));
  const std::vector<int64_t> positions = Positions(spec);
  for (size_t i = 0; i < positions.size(); ++i) {
    StoreElements(spec.dtype, &values[i], 1, positions[i], 1, tensor.bytes.data());
  }
  return tensor;
}

// The values in logical order.
inline std::vector<double> ValuesOf(const HostTensor& tensor) {
  std::vector<double> values;
  for (int64_t position : Positions(tensor.spec)) {
    double value;
    LoadElements(tensor.spec.dtype, tensor.bytes.data(), position, 1, 1, &value);
    values.push_back(value);
  }
  return values;
}

inline TensorSpec SpecOf(const Problem& problem, Role role, bool output) {
  for (const TensorSpec& spec : TensorsOf(problem)) {
    if (spec.role == role && spec.output == output) return spec;
  }
  return {};
}

// The inputs of a problem from values in the order of its roles, each in logical order.
inline std::vector<HostTensor> InputsOf(const Problem& problem,
                                        std::initializer_list<std::vector<double>> values) {
  std::vector<HostTensor> inputs;
  auto next = values.begin();
  for (const TensorSpec& spec : TensorsOf(problem)) {
    if (!spec.output) inputs.push_back(TensorOf(spec, *next++));
  }
  return inputs;
}

// What the reference wants of an output, in logical order.
inline std::vector<double> Wanted(const Problem& problem, const Reference& reference, Role role) {
  const TensorSpec spec = SpecOf(problem, role, true);
  std::vector<long double> want(spec.elements());
  std::vector<double> magnitude(spec.elements());
  reference.Evaluate(spec, 0, llvm::MutableArrayRef(want), llvm::MutableArrayRef(magnitude));
  std::vector<double> values;
  for (int64_t position : Positions(spec)) values.push_back(static_cast<double>(want[position]));
  return values;
}

// An output that is exactly what the reference wants, rounded once.
inline HostTensor PerfectOutput(const Problem& problem, const Reference& reference, Role role) {
  return TensorOf(SpecOf(problem, role, true), Wanted(problem, reference, role));
}

}  // namespace onepass
