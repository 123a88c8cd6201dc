// The activations, one struct a row of the activation table. Each is accurate over the whole range:
// tails keep relative accuracy, infinities give the limits, NaN gives NaN. F holds the constants
// kAlpha and kBeta (double) and kHalf, which says that the result is rounded to a 16-bit type, so
// that float arithmetic alone is enough.
#pragma once

#include "pair.cuh"

namespace onepass_kernel {

// The same functions of the math library for both arithmetic types.
__device__ __forceinline__ float Exp(float x) { return expf(x); }
__device__ __forceinline__ double Exp(double x) { return exp(x); }
__device__ __forceinline__ float Log1p(float x) { return log1pf(x); }
__device__ __forceinline__ double Log1p(double x) { return log1p(x); }
__device__ __forceinline__ float Erf(float x) { return erff(x); }
__device__ __forceinline__ double Erf(double x) { return erf(x); }
__device__ __forceinline__ float Erfcx(float x) { return erfcxf(x); }
__device__ __forceinline__ double Erfcx(double x) { return erfcx(x); }
__device__ __forceinline__ float Abs(float x) { return fabsf(x); }
__device__ __forceinline__ double Abs(double x) { return fabs(x); }

// Below the first, exp is so small that 1 + exp is 1; below the second, x * exp(x) rounds to zero.
// Above the negated second, exp overflows. Below kFar an exponent plus kShift is exact and far from
// both ends of the range; kBack is exp(-kShift).
template <class C>
struct ExpRange {
  static constexpr bool kFloat = sizeof(C) == 4;
  static constexpr double kTiny = kFloat ? -80.0 : -700.0;
  static constexpr double kZero = kFloat ? -115.0 : -760.0;
  static constexpr double kFar = kFloat ? -32.0 : -256.0;
  static constexpr double kShift = kFloat ? 64.0 : 512.0;
  static constexpr double kBack = kFloat ? 0x1.969d47321e4ccp-93 : 0x1.44109edb20931p-739;
};

// A constant beyond the precision of double.
struct Constant {
  double high;
  double low;
};
struct GeluConstants {
  static constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
  static constexpr Constant kTwoSqrt2OverPi = {0x1.9884533d43651p+0, -0x1.cbc0d30ebfd15p-54};
  static constexpr Constant kCubic = {0x1.6e4e26d4801f7p-5, 0x1.441355475a31ap-59};  // 0.044715
};

// a * x: the exponent of a tail needs more bits than C has.
template <class C>
__device__ __forceinline__ Pair<C> Product(Constant a, C x) {
  const C high_a = static_cast<C>(a.high);
  const C low_a = static_cast<C>((a.high - static_cast<double>(high_a)) + a.low);
  const C high = high_a * x;
  return {high, fma(high_a, x, -high) + low_a * x};
}

// factor * exp(exponent), rounded once even where the result is subnormal but not `factor`.
template <class C>
__device__ __forceinline__ C ScaledExp(C factor, Pair<C> exponent) {
  using R = ExpRange<C>;
  const bool far = exponent.high < C(R::kFar);
  const C main = Exp(exponent.high + (far ? C(R::kShift) : C(0)));
  return (factor * fma(main, exponent.low, main)) * (far ? C(R::kBack) : C(1));
}

// factor * sigmoid(exponent)
template <class C>
__device__ __forceinline__ C ScaledSigmoid(C factor, Pair<C> exponent) {
  const bool negative = exponent.high < C(0);
  if (exponent.high < C(ExpRange<C>::kTiny)) return ScaledExp(factor, exponent);
  const C magnitude = Exp(negative ? exponent.high : -exponent.high);
  const C tail = fma(magnitude, negative ? exponent.low : -exponent.low, magnitude);
  return factor * (negative ? tail : C(1)) / (C(1) + tail);
}

struct Identity {
  template <class F, class C>
  static __device__ __forceinline__ C Apply(C x) {
    return x;
  }
};

struct Relu {
  template <class F>
  static __device__ __forceinline__ float Apply(float x) {
    float y;
    asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(y) : "f"(x));
    return y;
  }
  template <class F>
  static __device__ __forceinline__ double Apply(double x) {
    return x > 0.0 ? x : (x <= 0.0 ? 0.0 : x);
  }
};

struct Relu6 {
  template <class F>
  static __device__ __forceinline__ float Apply(float x) {
    float y;
    asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(y) : "f"(x));
    asm("min.NaN.f32 %0, %1, 0f40C00000;" : "=f"(y) : "f"(y));
    return y;
  }
  template <class F>
  static __device__ __forceinline__ double Apply(double x) {
    return x > 0.0 ? (x < 6.0 ? x : 6.0) : (x <= 0.0 ? 0.0 : x);
  }
};

struct LeakyRelu {
  template <class F, class C>
  static __device__ __forceinline__ C Apply(C x) {
    return x < C(0) ? C(F::kAlpha) * x : x;
  }
};

struct Elu {
  template <class F>
  static __device__ __forceinline__ float Apply(float x) {
    return x < 0.0f ? static_cast<float>(F::kAlpha) * expm1f(x) : x;
  }
  template <class F>
  static __device__ __forceinline__ double Apply(double x) {
    return x < 0.0 ? F::kAlpha * expm1(x) : x;
  }
};

struct Sigmoid {
  template <class F, class C>
  static __device__ __forceinline__ C Apply(C x) {
    return ScaledSigmoid(C(1), Pair<C>{x, C(0)});
  }
};

struct Tanh {
  template <class F>
  static __device__ __forceinline__ float Apply(float x) {
    return tanhf(x);
  }
  template <class F>
  static __device__ __forceinline__ double Apply(double x) {
    return tanh(x);
  }
};

struct Swish {
  template <class F, class C>
  static __device__ __forceinline__ C Apply(C x) {
    const Pair<C> exponent = Product(Constant{F::kAlpha, 0.0}, x);
    if (exponent.high < C(-2 * Abs(ExpRange<C>::kZero))) return copysign(C(0), x);
    if (exponent.high > C(2 * Abs(ExpRange<C>::kZero))) return x;
    return ScaledSigmoid(x, exponent);
  }
};

struct Hardswish {
  template <class F, class C>
  static __device__ __forceinline__ C Apply(C x) {
    if (x <= C(-3)) return C(-0.0);
    if (x >= C(3)) return x;
    return x * (x + C(3)) / C(6);
  }
};

// Above kBeta (in units of kAlpha * x) the function is x itself.
struct Softplus {
  template <class F, class C>
  static __device__ __forceinline__ C Apply(C x) {
    const Pair<C> scaled = Product(Constant{F::kAlpha, 0.0}, x);
    if (scaled.high > C(F::kBeta) || !(scaled.high < C(-ExpRange<C>::kZero))) return x;
    if (scaled.high < C(2 * ExpRange<C>::kZero)) return C(0);
    if (scaled.high < C(ExpRange<C>::kTiny)) return ScaledExp(C(1.0 / F::kAlpha), scaled);
    const bool negative = scaled.high < C(0);
    const C magnitude = Exp(negative ? scaled.high : -scaled.high);
    const C tail = Log1p(fma(magnitude, negative ? scaled.low : -scaled.low, magnitude));
    const C sum = negative ? tail : scaled.high + (tail + scaled.low);
    return F::kAlpha == 1.0 ? sum : sum / C(F::kAlpha);
  }
};

// x * Phi(x). In the negative tail Phi = exp(-x*x/2) * erfcx(-x/sqrt(2)) / 2, whose factors are
// smooth, so that no rounding of the argument is magnified.
struct GeluErf {
  template <class F, class C>
  static __device__ __forceinline__ C Apply(C x) {
    const C z = x * C(GeluConstants::kSqrtHalf);
    if (x >= C(-0.5) || x != x) return C(0.5) * x * (C(1) + Erf(z));
    const C square = x * x;
    if (C(-0.5) * square < C(ExpRange<C>::kZero)) return C(-0.0);
    if constexpr (F::kHalf) return C(0.5) * x * erfc(-z);
    const Pair<C> exponent = {C(-0.5) * square, C(-0.5) * fma(x, x, -square)};
    return ScaledExp(C(0.5) * x * Erfcx(-z), exponent);
  }
};

// x * sigmoid(2 * sqrt(2/pi) * x * (1 + 0.044715 * x * x)): the same function as with tanh, without
// its cancellation for negative x.
struct GeluTanh {
  template <class C>
  static __device__ __forceinline__ Pair<C> Exponent(C x) {
    const C square = x * x;
    const C square_low = fma(x, x, -square);
    Pair<C> cubic = Product(GeluConstants::kCubic, square);
    cubic.low = fma(C(GeluConstants::kCubic.high), square_low, cubic.low);
    const C sum = C(1) + cubic.high;
    const C back = sum - C(1);
    const C sum_low = (C(1) - (sum - back)) + (cubic.high - back) + cubic.low;
    const C product = x * sum;
    const C product_low = fma(x, sum, -product) + x * sum_low;
    Pair<C> exponent = Product(GeluConstants::kTwoSqrt2OverPi, product);
    exponent.low = fma(C(GeluConstants::kTwoSqrt2OverPi.high), product_low, exponent.low);
    return exponent;
  }
  template <class F, class C>
  static __device__ __forceinline__ C Apply(C x) {
    if (x < C(-30)) return C(-0.0);
    if (x > C(30)) return x;
    return ScaledSigmoid(x, Exponent(x));
  }
};

}  // namespace onepass_kernel
