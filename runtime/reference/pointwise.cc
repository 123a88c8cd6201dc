#include "runtime/reference/pointwise.h"

#include <algorithm>

#include "runtime/reference/activation_value.h"
#include "runtime/reference/element.h"
#include "runtime/reference/walk.h"

namespace onepass {

namespace {

template <typename Real>
class PointwiseReference : public Reference {
 public:
  PointwiseReference(const Problem& problem, const HostTensor& x)
      : act_(problem.act), dtype_(problem.dtype), x_(x), walk_(WalkOf(problem, x.spec)) {}

  // The tolerance is the activation's own (UlpBound), so no magnitude is needed.
  void Evaluate(const TensorSpec&, int64_t begin, llvm::MutableArrayRef<long double> want,
                llvm::MutableArrayRef<double> magnitude) const override {
    constexpr int64_t kLongest = 512;
    walk_.ForEachRun(begin, want.size(), kLongest, [&](const Walk::Run& run) {
      Real values[kLongest];
      LoadElements(dtype_, x_.bytes.data(), run.offsets[1], walk_.step(1), run.length, values);
      ApplyActivation(act_, values, run.length);
      std::copy_n(values, run.length, want.begin() + (run.position - begin));
    });
    std::fill(magnitude.begin(), magnitude.end(), 0);
  }

 private:
  static Walk WalkOf(const Problem& problem, const TensorSpec& x) {
    const Dims y = DenseStrides(problem.dims, problem.layout);
    return Walk(Walk::Sizes(problem.dims.begin(), problem.dims.end()),
                {Walk::Sizes(y.begin(), y.end()), Walk::Sizes(x.strides.begin(), x.strides.end())});
  }

  Activation act_;
  DType dtype_;
  const HostTensor& x_;
  Walk walk_;
};

}  // namespace

std::unique_ptr<Reference> MakePointwiseReference(const Problem& problem,
                                                  llvm::ArrayRef<HostTensor> inputs) {
  if (problem.dtype == DType::kF64) {
    return std::make_unique<PointwiseReference<long double>>(problem, inputs[0]);
  }
  return std::make_unique<PointwiseReference<double>>(problem, inputs[0]);
}

}  // namespace onepass
