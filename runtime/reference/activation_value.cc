#include "runtime/reference/activation_value.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace onepass {

namespace {

template <typename Real>
struct Formulas {
  static Real Sigmoid(Real x) {
    if (x >= 0) return 1 / (1 + std::exp(-x));
    const Real e = std::exp(x);
    return e / (1 + e);
  }

  // x * sigmoid(z), with the limit where x is infinite and the factor vanishes.
  static Real Gated(Real x, Real z) {
    if (std::isinf(x) && z < 0) return std::copysign(Real{0}, x);
    return x * Sigmoid(z);
  }

  static Real GeluErf(Real x) {
    if (x == -std::numeric_limits<Real>::infinity()) return -Real{0};
    return x * (std::erfc(-x / std::numbers::sqrt2_v<Real>) / 2);
  }

  // x (1 + tanh u)/2 = x sigmoid(2u).
  static Real GeluTanh(Real x) {
    const Real k = std::sqrt(8 * std::numbers::inv_pi_v<Real>);
    return Gated(x, k * (x + Real{0.044715L} * x * x * x));
  }

  static Real Softplus(Real x, Real beta, Real threshold) {
    const Real z = beta * x;
    if (z > threshold) return x;
    return (std::max(z, Real{0}) + std::log1p(std::exp(-std::fabs(z)))) / beta;
  }

  // tanh(log(1 + e^x)) = e(e+2) / (e(e+2) + 2) with e = e^x.
  static Real Mish(Real x) {
    if (x == -std::numeric_limits<Real>::infinity()) return -Real{0};
    if (x > 0) {
      const Real m = std::exp(-x);
      return x * ((1 + 2 * m) / (1 + 2 * m + 2 * m * m));
    }
    const Real e = std::exp(x);
    return x * (e * (e + 2) / (e * (e + 2) + 2));
  }

  static Real Tanhshrink(Real x) {
    if (!(std::fabs(x) < Real{0.1L})) return x - std::tanh(x);
    // The series of x - tanh x: the difference cancels.
    constexpr Real kTerms[] = {
        Real{929569} / 638512875, Real{-21844} / 6081075, Real{1382} / 155925, Real{-62} / 2835,
        Real{17} / 315,           Real{-2} / 15,          Real{1} / 3};
    Real sum = 0;
    for (Real term : kTerms) sum = sum * x * x + term;
    return sum * x * x * x;
  }

  static Real Hardswish(Real x) {
    if (x <= -3) return -Real{0};
    return x >= 3 ? x : x * (x + 3) / 6;
  }

  static Real Clip(Real x, Real low, Real high) { return x < low ? low : x > high ? high : x; }

  static Real Softshrink(Real x, Real lambda) {
    return x > lambda ? x - lambda : x < -lambda ? x + lambda : x * 0;
  }
};

constexpr long double kSeluAlpha = 1.6732632423543772848170429916717L;
constexpr long double kSeluScale = 1.0507009873554804934193349852946L;

template <typename Real>
struct Loop {
  Real* values;
  int64_t count;
  template <typename Function>
  void operator()(Function function) const {
    for (int64_t i = 0; i < count; ++i) values[i] = function(values[i]);
  }
};

// The activations made of comparisons and one product: NaN passes every one.
template <typename Real>
bool ApplyPiecewise(const Activation& act, const Loop<Real>& each) {
  using F = Formulas<Real>;
  const Real a = act.alpha, b = act.beta;
  switch (act.kind) {
    case ActivationKind::kIdentity:
      return true;
    case ActivationKind::kRelu:
      return each([](Real x) { return x <= 0 ? Real{0} : x; }), true;
    case ActivationKind::kLeakyRelu:
      return each([=](Real x) { return x > 0 ? x : a * x; }), true;
    case ActivationKind::kRelu6:
      return each([](Real x) { return F::Clip(x, 0, 6); }), true;
    case ActivationKind::kClip:
      return each([=](Real x) { return F::Clip(x, a, b); }), true;
    case ActivationKind::kHardswish:
      return each(F::Hardswish), true;
    case ActivationKind::kHardsigmoid:
      return each([=](Real x) { return F::Clip(a * x + b, 0, 1); }), true;
    case ActivationKind::kAbs:
      return each([](Real x) { return std::fabs(x); }), true;
    case ActivationKind::kSquare:
      return each([](Real x) { return x * x; }), true;
    case ActivationKind::kRound:
      return each([](Real x) { return std::nearbyint(x); }), true;
    case ActivationKind::kLinear:
      return each([=](Real x) { return a * x + b; }), true;
    case ActivationKind::kThreshold:
      return each([=](Real x) { return x <= a ? b : x; }), true;
    case ActivationKind::kHardshrink:
      return each([=](Real x) { return x >= -a && x <= a ? Real{0} : x; }), true;
    case ActivationKind::kSoftshrink:
      return each([=](Real x) { return F::Softshrink(x, a); }), true;
    case ActivationKind::kThresholdedRelu:
      return each([=](Real x) { return x <= a ? Real{0} : x; }), true;
    default:
      return false;
  }
}

template <typename Real>
void ApplyTranscendental(const Activation& act, const Loop<Real>& each) {
  using F = Formulas<Real>;
  const Real a = act.alpha, b = act.beta;
  switch (act.kind) {
    case ActivationKind::kElu:
      return each([=](Real x) { return x > 0 ? x : a * std::expm1(x); });
    case ActivationKind::kCelu:
      return each([=](Real x) { return x > 0 ? x : a * std::expm1(x / a); });
    case ActivationKind::kSelu:
      return each(
          [](Real x) { return Real{kSeluScale} * (x > 0 ? x : Real{kSeluAlpha} * std::expm1(x)); });
    case ActivationKind::kSigmoid:
      return each(F::Sigmoid);
    case ActivationKind::kTanh:
      return each([](Real x) { return std::tanh(x); });
    case ActivationKind::kSwish:
      return each([=](Real x) { return F::Gated(x, a * x); });
    case ActivationKind::kSoftplus:
      return each([=](Real x) { return F::Softplus(x, a, b); });
    case ActivationKind::kLogsigmoid:
      return each(
          [](Real x) { return (x < 0 ? x : Real{0}) - std::log1p(std::exp(-std::fabs(x))); });
    case ActivationKind::kSoftsign:
      return each([](Real x) {
        return std::isinf(x) ? std::copysign(Real{1}, x) : x / (1 + std::fabs(x));
      });
    case ActivationKind::kTanhshrink:
      return each(F::Tanhshrink);
    case ActivationKind::kMish:
      return each(F::Mish);
    case ActivationKind::kGeluErf:
      return each(F::GeluErf);
    case ActivationKind::kGeluTanh:
      return each(F::GeluTanh);
    case ActivationKind::kExp:
      return each([](Real x) { return std::exp(x); });
    case ActivationKind::kLog:
      return each([](Real x) { return std::log(x); });
    case ActivationKind::kSqrt:
      return each([](Real x) { return std::sqrt(x); });
    case ActivationKind::kPow:
      return each([=](Real x) { return a * std::pow(x, b); });
    default:
      return;
  }
}

}  // namespace

template <typename Real>
void ApplyActivation(const Activation& act, Real* values, int64_t count) {
  const Loop<Real> each{values, count};
  if (!ApplyPiecewise(act, each)) ApplyTranscendental(act, each);
}

template void ApplyActivation(const Activation&, double*, int64_t);
template void ApplyActivation(const Activation&, long double*, int64_t);

double SlopeBound(const Activation& act) {
  switch (act.kind) {
    case ActivationKind::kLeakyRelu:
    case ActivationKind::kElu:
      return std::max(1.0, std::fabs(act.alpha));
    case ActivationKind::kSelu:
      return static_cast<double>(kSeluScale * kSeluAlpha);
    case ActivationKind::kSigmoid:
      return 0.25;
    case ActivationKind::kSwish:
    case ActivationKind::kMish:
      return 1.1;
    case ActivationKind::kGeluErf:
    case ActivationKind::kGeluTanh:
      return 1.13;
    case ActivationKind::kHardswish:
      return 1.5;
    case ActivationKind::kHardsigmoid:
    case ActivationKind::kLinear:
      return std::fabs(act.alpha);
    case ActivationKind::kSoftplus:  // jumps by at most e^-THRESHOLD, unless that is small
      return act.beta >= 16 && act.alpha > 0 ? 1 : std::numeric_limits<double>::infinity();
    case ActivationKind::kExp:
    case ActivationKind::kLog:
    case ActivationKind::kSqrt:
    case ActivationKind::kSquare:
    case ActivationKind::kRound:
    case ActivationKind::kPow:
    case ActivationKind::kThreshold:
    case ActivationKind::kHardshrink:
    case ActivationKind::kThresholdedRelu:
      return std::numeric_limits<double>::infinity();
    default:
      return 1;
  }
}

}  // namespace onepass
