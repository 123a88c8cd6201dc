// Reference: every operator in float64 (long double for f64) on the CPU, on all cores. What
// `--check` and the tests compare with. It shares no index arithmetic with codegen: it walks
// logical coordinates and strides.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/problem.h"
#include "codegen/roles.h"
#include "llvm/ADT/ArrayRef.h"

namespace onepass {

// A tensor in host memory: spec.span_elements() elements in memory order.
struct HostTensor {
  TensorSpec spec;
  std::vector<uint8_t> bytes;
};

class Reference {
 public:
  // Computes what all elements share (statistics, running statistics). `inputs` holds every input
  // of TensorsOf(problem), in its order, and must outlive the reference. kUnimplemented for
  // operators that have no reference yet.
  static absl::StatusOr<std::unique_ptr<Reference>> Create(const Problem& problem,
                                                           llvm::ArrayRef<HostTensor> inputs);
  virtual ~Reference() = default;

  // The right values of elements [begin, begin + want.size()) of an output, counted in memory
  // order, and for each the magnitude M of CONTRACT's tolerance. Thread safe.
  virtual void Evaluate(const TensorSpec& output, int64_t begin,
                        llvm::MutableArrayRef<long double> want,
                        llvm::MutableArrayRef<double> magnitude) const = 0;
};

}  // namespace onepass
