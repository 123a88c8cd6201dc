#include "runtime/reference/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "runtime/reference/activation_value.h"
#include "runtime/reference/element.h"
#include "runtime/reference/regions.h"
#include "runtime/reference/walk.h"

namespace onepass {

namespace {

constexpr int64_t kLongestRun = 512;

// y = act((x - mean) * factor + bias), with the magnitude of the part before the activation.
template <typename Real>
struct Channel {
  Real mean, factor, bias;
  double magnitude;
};

struct Wanted {
  std::vector<long double> values;
  std::vector<double> magnitudes;
};

template <typename Real>
class BatchNormReference : public Reference {
 public:
  BatchNormReference(const Problem& problem, llvm::ArrayRef<HostTensor> inputs)
      : problem_(problem), inputs_(inputs), walk_(WalkOf()), slope_(SlopeBound(problem.act)) {
    const int64_t channels = problem_.channels();
    const Wanted ones = {std::vector<long double>(channels, 1), {}};
    const Wanted zeros = {std::vector<long double>(channels, 0), {}};
    const std::vector<long double> scale = ReadOr(Role::kScale, ones.values);
    const std::vector<long double> bias = ReadOr(Role::kBias, zeros.values);
    const bool train = problem_.op == Op::kBatchNormTrain;
    const std::vector<Moments> moments = train ? MomentsOfX() : GivenMoments();
    for (int64_t c = 0; c < channels; ++c) {
      const long double invstd = InvstdOf(moments[c]);
      const long double magnitude = std::fabs(scale[c]) * (1 + std::fabs(moments[c].mean) * invstd);
      channels_.push_back({static_cast<Real>(moments[c].mean), static_cast<Real>(scale[c] * invstd),
                           static_cast<Real>(bias[c]), static_cast<double>(magnitude)});
    }
    if (train) ComputeStatistics(moments);
  }

  void Evaluate(const TensorSpec& output, int64_t begin, llvm::MutableArrayRef<long double> want,
                llvm::MutableArrayRef<double> magnitude) const override {
    if (output.role == Role::kY) return EvaluateY(begin, want, magnitude);
    const Wanted& wanted = statistics_.at(output.role);
    std::copy_n(wanted.values.begin() + begin, want.size(), want.begin());
    std::copy_n(wanted.magnitudes.begin() + begin, want.size(), magnitude.begin());
  }

 private:
  const HostTensor* Find(Role role) const {
    for (const HostTensor& input : inputs_) {
      if (input.spec.role == role) return &input;
    }
    return nullptr;
  }

  std::vector<long double> ReadOr(Role role, const std::vector<long double>& fallback) const {
    const HostTensor* tensor = Find(role);
    if (tensor == nullptr) return fallback;
    std::vector<long double> values(tensor->spec.elements());
    LoadElements(tensor->spec.dtype, tensor->bytes.data(), 0, 1, values.size(), values.data());
    return values;
  }

  // Tensors: y, x, the channel number, the residual (x where there is none).
  Walk WalkOf() const {
    const auto sizes = [](const Dims& dims) { return Walk::Sizes(dims.begin(), dims.end()); };
    Walk::Sizes channel(problem_.rank(), 0);
    if (problem_.rank() > 1) channel[1] = 1;
    const HostTensor* residual = Find(Role::kResidual);
    const Dims& x = Find(Role::kX)->spec.strides;
    return Walk(sizes(problem_.dims),
                {sizes(DenseStrides(problem_.dims, problem_.layout)), sizes(x), channel,
                 sizes(residual ? residual->spec.strides : x)});
  }

  std::vector<Moments> MomentsOfX() const {
    return MomentsOf(problem_, RegionsOf(problem_), Find(Role::kX)->bytes.data());
  }

  std::vector<Moments> GivenMoments() const {
    const std::vector<long double> mean = ReadOr(Role::kMean, {});
    const std::vector<long double> var = ReadOr(Role::kVar, {});
    std::vector<Moments> moments(mean.size());
    for (size_t c = 0; c < mean.size(); ++c) moments[c] = {mean[c], var[c], 0, 0};
    return moments;
  }

  long double InvstdOf(const Moments& moments) const {
    return 1 / std::sqrt(moments.variance + static_cast<long double>(problem_.eps));
  }

  void ComputeStatistics(const std::vector<Moments>& moments) {
    const int64_t n = problem_.batch() * problem_.spatial();
    const long double weight = problem_.new_weight();
    const bool unbiased = problem_.running_var == RunningVar::kUnbiased && n > 1;
    const long double correction = unbiased ? n / (n - 1.0L) : 1;
    const std::vector<long double> old_mean = ReadOr(Role::kRunningMean, {});
    const std::vector<long double> old_var = ReadOr(Role::kRunningVar, {});
    for (size_t c = 0; c < moments.size(); ++c) {
      const Moments& m = moments[c];
      const long double invstd = InvstdOf(m);
      const long double std_magnitude = 1 + std::fabs(m.mean) * invstd;
      const long double var = m.variance * correction;
      // A mean that is off by a rounding of itself moves the variance by that times the deviation.
      const long double var_magnitude = var + std::fabs(m.mean) * std::sqrt(var);
      Append(Role::kSavedMean, m.mean, m.mean_abs);
      Append(Role::kSavedInvstd, invstd, invstd * std_magnitude);
      if (n == 0) {
        Append(Role::kRunningMeanOut, old_mean[c], 0);
        Append(Role::kRunningVarOut, old_var[c], 0);
        continue;
      }
      const auto blend = [&](long double old, long double batch) {
        return (1 - weight) * old + weight * batch;
      };
      const auto size = [&](long double old, long double batch) {
        return std::fabs((1 - weight) * old) + std::fabs(weight) * batch;
      };
      Append(Role::kRunningMeanOut, blend(old_mean[c], m.mean), size(old_mean[c], m.mean_abs));
      Append(Role::kRunningVarOut, blend(old_var[c], var), size(old_var[c], var_magnitude));
    }
  }

  void Append(Role role, long double value, long double magnitude) {
    statistics_[role].values.push_back(value);
    statistics_[role].magnitudes.push_back(static_cast<double>(magnitude));
  }

  void EvaluateY(int64_t begin, llvm::MutableArrayRef<long double> want,
                 llvm::MutableArrayRef<double> magnitude) const {
    const HostTensor& x = *Find(Role::kX);
    const HostTensor* residual = Find(Role::kResidual);
    walk_.ForEachRun(begin, want.size(), kLongestRun, [&](const Walk::Run& run) {
      Real values[kLongestRun];
      double sizes[kLongestRun];
      LoadElements(problem_.dtype, x.bytes.data(), run.offsets[1], walk_.step(1), run.length,
                   values);
      Normalise(run, values, sizes);
      if (residual != nullptr) AddResidual(run, *residual, values, sizes);
      Activate(values, sizes, run.length);
      std::copy_n(values, run.length, want.begin() + (run.position - begin));
      std::copy_n(sizes, run.length, magnitude.begin() + (run.position - begin));
    });
  }

  void Normalise(const Walk::Run& run, Real* values, double* sizes) const {
    const Channel<Real>* channel = &channels_[run.offsets[2]];
    if (const int64_t step = walk_.step(2); step != 0) {
      for (int64_t i = 0; i < run.length; ++i) {
        const Channel<Real>& each = channel[i * step];
        values[i] = (values[i] - each.mean) * each.factor + each.bias;
        sizes[i] = each.magnitude;
      }
      return;
    }
    const Channel<Real> each = *channel;
    for (int64_t i = 0; i < run.length; ++i) {
      values[i] = (values[i] - each.mean) * each.factor + each.bias;
      sizes[i] = each.magnitude;
    }
  }

  // What cancels against the residual was rounded at its own size, which |residual| bounds.
  void AddResidual(const Walk::Run& run, const HostTensor& residual, Real* values,
                   double* sizes) const {
    Real added[kLongestRun];
    LoadElements(problem_.dtype, residual.bytes.data(), run.offsets[3], walk_.step(3), run.length,
                 added);
    for (int64_t i = 0; i < run.length; ++i) {
      values[i] += added[i];
      sizes[i] += static_cast<double>(std::fabs(added[i]));
    }
  }

  // The activation scales an error by its slope and adds its own; see check.h.
  void Activate(Real* values, double* sizes, int64_t count) const {
    if (problem_.act.kind == ActivationKind::kIdentity) return;
    if (std::isinf(slope_)) BracketSizes(values, sizes, count);
    const double own = UlpBound(problem_.act, AccumulationType(problem_.dtype)) / 8;
    if (!std::isinf(slope_)) {
      const double relative = own > 0 ? 0.125 : 0;  // exact ones pass the relative error on
      for (int64_t i = 0; i < count; ++i) {
        sizes[i] = slope_ * (sizes[i] + relative * std::fabs(static_cast<double>(values[i])));
      }
    }
    ApplyActivation(problem_.act, values, count);
    for (int64_t i = 0; i < count; ++i) sizes[i] += own * std::fabs(static_cast<double>(values[i]));
  }

  // Without a bound on the slope: how far the activation moves over the tolerance of its argument.
  void BracketSizes(const Real* values, double* sizes, int64_t count) const {
    const double unit = FormatOf(AccumulationType(problem_.dtype)).unit_roundoff;
    Real moved[3][kLongestRun];
    for (int64_t i = 0; i < count; ++i) {
      const Real error = 16 * unit * (sizes[i] + std::fabs(values[i]) / 8);
      moved[0][i] = values[i];
      moved[1][i] = values[i] - error;
      moved[2][i] = values[i] + error;
    }
    for (Real* each : moved) ApplyActivation(problem_.act, each, count);
    for (int64_t i = 0; i < count; ++i) {
      const Real most =
          std::max(std::fabs(moved[1][i] - moved[0][i]), std::fabs(moved[2][i] - moved[0][i]));
      sizes[i] = static_cast<double>(most / (16 * unit));
    }
  }

  const Problem problem_;
  const llvm::ArrayRef<HostTensor> inputs_;
  const Walk walk_;
  const double slope_;
  std::vector<Channel<Real>> channels_;
  std::map<Role, Wanted> statistics_;
};

}  // namespace

std::unique_ptr<Reference> MakeBatchNormReference(const Problem& problem,
                                                  llvm::ArrayRef<HostTensor> inputs) {
  if (problem.dtype == DType::kF64) {
    return std::make_unique<BatchNormReference<long double>>(problem, inputs);
  }
  return std::make_unique<BatchNormReference<double>>(problem, inputs);
}

}  // namespace onepass
