// The activations, one struct a row of the activation table. Each is accurate over the whole range:
// tails keep relative accuracy, infinities give the limits, NaN gives NaN. F holds the constants
// kAlpha and kBeta (double) and kHalf, which says that the result is rounded to a 16-bit type, so
// that float arithmetic alone is enough.
#pragma once

namespace onepass_kernel {

// sqrt(2/pi), 1/sqrt(2) and the cubic coefficient of gelu_tanh, as float plus float remainder.
struct GeluConstants {
  static constexpr double kSqrt2OverPi = 0x1.988453365de4p-1;
  static constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
  static constexpr double kCubic = 0.044715;
};

// A value as an unevaluated sum: the exponent of a tail needs more than float's 24 bits.
struct FloatPair {
  float high;
  float low;
};

// (a as float + a's remainder) * x
__device__ __forceinline__ FloatPair Product(double a, float x) {
  const float high_a = static_cast<float>(a);
  const float low_a = static_cast<float>(a - static_cast<double>(high_a));
  const float high = high_a * x;
  return {high, fmaf(high_a, x, -high) + low_a * x};
}

// exp of a pair, both halves of the exponent kept until the end so that subnormal results are
// rounded once: `factor` is multiplied in between.
__device__ __forceinline__ float ScaledExp(float factor, FloatPair exponent) {
  const float half = expf(0.5f * exponent.high);
  const float correction = fmaf(half, exponent.low, half);
  return (factor * correction) * half;
}

// factor * sigmoid(exponent)
__device__ __forceinline__ float ScaledSigmoid(float factor, FloatPair exponent) {
  const bool negative = exponent.high < 0.0f;
  if (negative && exponent.high < -80.0f) return ScaledExp(factor, exponent);
  const float magnitude = expf(negative ? exponent.high : -exponent.high);
  const float tail = fmaf(magnitude, negative ? exponent.low : -exponent.low, magnitude);
  return factor * (negative ? tail : 1.0f) / (1.0f + tail);
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
  template <class F>
  static __device__ __forceinline__ float Apply(float x) {
    if constexpr (F::kHalf) return 1.0f / (1.0f + expf(-x));
    return ScaledSigmoid(1.0f, {x, 0.0f});
  }
  template <class F>
  static __device__ __forceinline__ double Apply(double x) {
    const double tail = exp(-fabs(x));
    return (x < 0.0 ? tail : 1.0) / (1.0 + tail);
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
  template <class F>
  static __device__ __forceinline__ float Apply(float x) {
    const FloatPair exponent = Product(F::kAlpha, x);
    if (exponent.high == -__int_as_float(0x7f800000)) return copysignf(0.0f, x);
    if (exponent.high == __int_as_float(0x7f800000)) return x;
    return ScaledSigmoid(x, exponent);
  }
  template <class F>
  static __device__ __forceinline__ double Apply(double x) {
    const double exponent = F::kAlpha * x;
    if (exponent < -800.0) return copysign(0.0, x);
    const double low = fma(F::kAlpha, x, -exponent);
    const double half = exp(-0.5 * fabs(exponent));
    const double tail = fma(half, exponent < 0.0 ? 0.5 * low : -0.5 * low, half) * half;
    return exponent < 0.0 ? (x * half) * (half * (1.0 + low)) / (1.0 + tail) : x / (1.0 + tail);
  }
};

struct Hardswish {
  template <class F>
  static __device__ __forceinline__ float Apply(float x) {
    if (x <= -3.0f) return -0.0f;
    if (x >= 3.0f) return x;
    return x * (x + 3.0f) * static_cast<float>(0x1.5555555555555p-3);
  }
  template <class F>
  static __device__ __forceinline__ double Apply(double x) {
    if (x <= -3.0) return -0.0;
    if (x >= 3.0) return x;
    return x * (x + 3.0) / 6.0;
  }
};

// Above kBeta (in units of kAlpha * x) the function is x itself.
struct Softplus {
  template <class F>
  static __device__ __forceinline__ float Apply(float x) {
    const FloatPair scaled = Product(F::kAlpha, x);
    if (scaled.high > static_cast<float>(F::kBeta)) return x;
    const float magnitude = fabsf(scaled.high);
    const float low = scaled.high < 0.0f ? scaled.low : -scaled.low;
    if (!(magnitude < 110.0f)) return scaled.high < 0.0f ? 0.0f : x;
    const float tail = expf(-magnitude);
    const float log_part = log1pf(fmaf(tail, low, tail));
    const float sum = scaled.high < 0.0f ? log_part : scaled.high + (log_part + scaled.low);
    return F::kAlpha == 1.0 ? sum : static_cast<float>(static_cast<double>(sum) / F::kAlpha);
  }
  template <class F>
  static __device__ __forceinline__ double Apply(double x) {
    const double scaled = F::kAlpha * x;
    if (scaled > F::kBeta) return x;
    const double log_part = log1p(exp(-fabs(scaled)));
    return (scaled < 0.0 ? log_part : scaled + log_part) / F::kAlpha;
  }
};

// x * Phi(x). In the negative tail Phi = exp(-x*x/2) * erfcx(-x/sqrt(2)) / 2, whose factors are
// smooth, so that no rounding of the argument is magnified.
struct GeluErf {
  template <class F>
  static __device__ __forceinline__ float Apply(float x) {
    if constexpr (F::kHalf) {
      if (x < -15.0f) return -0.0f;
      const float z = x * static_cast<float>(-GeluConstants::kSqrtHalf);
      return 0.5f * x * erfcf(z);
    }
    if (x >= -0.5f || x != x) {
      return 0.5f * x * (1.0f + erff(x * static_cast<float>(GeluConstants::kSqrtHalf)));
    }
    if (x < -15.0f) return -0.0f;
    const float square = x * x;
    const FloatPair exponent = {-0.5f * square, -0.5f * fmaf(x, x, -square)};
    const float factor = 0.5f * x * erfcxf(x * static_cast<float>(-GeluConstants::kSqrtHalf));
    return ScaledExp(factor, exponent);
  }
  template <class F>
  static __device__ __forceinline__ double Apply(double x) {
    if (x >= -0.5 || x != x) return 0.5 * x * (1.0 + erf(x * GeluConstants::kSqrtHalf));
    if (x < -40.0) return -0.0;
    const double square = x * x;
    const double low = -0.5 * fma(x, x, -square);
    const double half = exp(-0.25 * square);
    const double factor = 0.5 * x * erfcx(-x * GeluConstants::kSqrtHalf);
    return (factor * fma(half, low, half)) * half;
  }
};

// x * sigmoid(2 * sqrt(2/pi) * x * (1 + 0.044715 * x * x)): the same function as with tanh, without
// its cancellation for negative x.
struct GeluTanh {
  static __device__ __forceinline__ FloatPair Exponent(float x) {
    const float square = x * x;
    const float square_low = fmaf(x, x, -square);
    FloatPair cubic = Product(GeluConstants::kCubic, square);
    cubic.low = fmaf(static_cast<float>(GeluConstants::kCubic), square_low, cubic.low);
    const float sum = 1.0f + cubic.high;
    const float back = sum - 1.0f;
    const float sum_low = (1.0f - (sum - back)) + (cubic.high - back) + cubic.low;
    const float product = x * sum;
    const float product_low = fmaf(x, sum, -product) + x * sum_low;
    FloatPair exponent = Product(2.0 * GeluConstants::kSqrt2OverPi, product);
    exponent.low =
        fmaf(static_cast<float>(2.0 * GeluConstants::kSqrt2OverPi), product_low, exponent.low);
    return exponent;
  }
  template <class F>
  static __device__ __forceinline__ float Apply(float x) {
    if (x < -15.0f) return -0.0f;
    if (x > 15.0f) return x;
    return ScaledSigmoid(x, Exponent(x));
  }
  template <class F>
  static __device__ __forceinline__ double Apply(double x) {
    if (x < -40.0) return -0.0;
    if (x > 40.0) return x;
    const double inner = x * fma(GeluConstants::kCubic * x, x, 1.0);
    const double exponent = 2.0 * GeluConstants::kSqrt2OverPi * inner;
    const double half = exp(-0.5 * fabs(exponent));
    return exponent < 0.0 ? (x * half) * (half / (1.0 + half * half)) : x / (1.0 + half * half);
  }
};

}  // namespace onepass_kernel
