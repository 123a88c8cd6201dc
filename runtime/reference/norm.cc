#include "runtime/reference/norm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "codegen/operators.h"
#include "runtime/reference/activation_value.h"
#include "runtime/reference/element.h"
#include "runtime/reference/regions.h"
#include "runtime/reference/walk.h"

namespace onepass {

namespace {

constexpr int64_t kLongestRun = 512;

// y = act((x - mean) * invstd * scale + bias + residual). The part before bias, and the size that
// its errors go by, are of a region and of a parameter.
template <typename Real>
struct Region {
  Real mean, invstd;
  double magnitude;  // 1 + |mean| invstd
};
template <typename Real>
struct Parameter {
  Real scale, bias;
};

struct Wanted {
  std::vector<long double> values;
  std::vector<double> magnitudes;
};

template <typename Real>
class NormReference : public Reference {
 public:
  NormReference(const Problem& problem, llvm::ArrayRef<HostTensor> inputs)
      : problem_(problem),
        inputs_(inputs),
        view_(RegionsOf(problem)),
        walk_(WalkOf()),
        slope_(SlopeBound(problem.act)) {
    const bool given = problem_.op == Op::kBatchNormInfer;
    const std::vector<Moments> moments = given ? GivenMoments() : MomentsOfX();
    for (const Moments& each : moments) {
      const long double invstd = InvstdOf(each);
      regions_.push_back({static_cast<Real>(each.mean), static_cast<Real>(invstd),
                          static_cast<double>(1 + std::fabs(each.mean) * invstd)});
    }
    const int64_t count = ParameterCount();
    const std::vector<long double> scale = ReadOr(Role::kScale, std::vector<long double>(count, 1));
    const std::vector<long double> bias = ReadOr(Role::kBias, std::vector<long double>(count, 0));
    for (int64_t p = 0; p < count; ++p)
      parameters_.push_back({static_cast<Real>(scale[p]), static_cast<Real>(bias[p])});
    if (!given) ComputeSaved(moments);
    if (problem_.op == Op::kBatchNormTrain) ComputeRunning(moments);
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

  bool HasLastAxesParameters() const {
    return (BitOf(problem_.op) & (kLayerNorms | kRmsNorms)) != 0;
  }

  int64_t ParameterCount() const {
    return HasLastAxesParameters() ? view_.size : problem_.channels();
  }

  // Tensors: y, x, the region's number, the parameter's, the residual (x where there is none).
  Walk WalkOf() const {
    const Walk::Sizes dense = InView(problem_, DenseStrides(problem_.dims, problem_.layout));
    Dims channel(problem_.rank(), 0);
    if (problem_.rank() > 1) channel[1] = 1;
    const Walk::Sizes parameter =
        HasLastAxesParameters() ? view_.within : InView(problem_, channel);
    const bool residual = Find(Role::kResidual) != nullptr;
    return Walk(view_.sizes, {dense, view_.x, view_.region, parameter, residual ? dense : view_.x});
  }

  // An RMS norm divides by the root of the mean square, and subtracts nothing.
  std::vector<Moments> MomentsOfX() const {
    std::vector<Moments> moments = MomentsOf(problem_, view_, Find(Role::kX)->bytes.data());
    if (!IsRmsNorm(problem_.op)) return moments;
    for (Moments& each : moments) each = {.mean = 0, .variance = each.mean_square};
    return moments;
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

  void ComputeSaved(const std::vector<Moments>& moments) {
    for (const Moments& m : moments) {
      const long double invstd = InvstdOf(m);
      Append(Role::kSavedMean, m.mean, m.mean_abs);
      Append(Role::kSavedInvstd, invstd, invstd * (1 + std::fabs(m.mean) * invstd));
    }
  }

  void ComputeRunning(const std::vector<Moments>& moments) {
    const int64_t n = view_.size;
    const long double weight = problem_.new_weight();
    const bool unbiased = problem_.running_var == RunningVar::kUnbiased && n > 1;
    const long double correction = unbiased ? n / (n - 1.0L) : 1;
    const std::vector<long double> old_mean = ReadOr(Role::kRunningMean, {});
    const std::vector<long double> old_var = ReadOr(Role::kRunningVar, {});
    for (size_t c = 0; c < moments.size(); ++c) {
      const Moments& m = moments[c];
      if (n == 0) {
        Append(Role::kRunningMeanOut, old_mean[c], 0);
        Append(Role::kRunningVarOut, old_var[c], 0);
        continue;
      }
      const long double var = m.variance * correction;
      // A mean that is off by a rounding of itself moves the variance by that times the deviation.
      const long double var_magnitude = var + std::fabs(m.mean) * std::sqrt(var);
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
    const Region<Real>* region = &regions_[run.offsets[2]];
    const Parameter<Real>* parameter = &parameters_[run.offsets[3]];
    const int64_t region_step = walk_.step(2), parameter_step = walk_.step(3);
    for (int64_t i = 0; i < run.length; ++i) {
      const Region<Real>& r = region[i * region_step];
      const Parameter<Real>& p = parameter[i * parameter_step];
      values[i] = (values[i] - r.mean) * (r.invstd * p.scale) + p.bias;
      sizes[i] = std::fabs(static_cast<double>(p.scale)) * r.magnitude;
    }
  }

  // What cancels against the residual was rounded at its own size, which |residual| bounds.
  void AddResidual(const Walk::Run& run, const HostTensor& residual, Real* values,
                   double* sizes) const {
    Real added[kLongestRun];
    LoadElements(problem_.dtype, residual.bytes.data(), run.offsets[4], walk_.step(4), run.length,
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
  const Regions view_;
  const Walk walk_;
  const double slope_;
  std::vector<Region<Real>> regions_;
  std::vector<Parameter<Real>> parameters_;
  std::map<Role, Wanted> statistics_;
};

}  // namespace

std::unique_ptr<Reference> MakeNormReference(const Problem& problem,
                                             llvm::ArrayRef<HostTensor> inputs) {
  if (problem.dtype == DType::kF64) {
    return std::make_unique<NormReference<long double>>(problem, inputs);
  }
  return std::make_unique<NormReference<double>>(problem, inputs);
}

}  // namespace onepass
