// The approximate functions of the special-function units, within the errors that the PTX ISA
// states and with its special values. Branch-free, so that loops over lanes vectorise.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/sim/half.h"

namespace onepass::sim {

// 2^x: at most 1.1 ulp, subnormal results included. (ISA: 2 ulp.)
inline float Exp2Approx(float x) {
  const float clamped = x > -160.0f ? (x < 140.0f ? x : 140.0f) : -160.0f;  // NaN: -160
  const float whole = std::rint(clamped);
  const float f = clamped - whole;  // exact, in [-1/2, 1/2]
  // Taylor terms ln(2)^k / k!: the remainder is below 2^-27.
  float p = 0x1.ffcbfcp-17f;
  p = std::fma(p, f, 0x1.430912p-13f);
  p = std::fma(p, f, 0x1.5d87fep-10f);
  p = std::fma(p, f, 0x1.3b2ab6p-7f);
  p = std::fma(p, f, 0x1.c6b08ep-5f);
  p = std::fma(p, f, 0x1.ebfbep-3f);
  p = std::fma(p, f, 0x1.62e43p-1f);
  p = std::fma(p, f, 1.0f);
  const int32_t n = static_cast<int32_t>(whole);
  const int32_t half = n >> 1;
  const float first = std::bit_cast<float>((half + 127) << 23);
  const float second = std::bit_cast<float>((n - half + 127) << 23);
  return x != x ? std::bit_cast<float>(0x7fffffffu) : p * first * second;
}

// log2(x): the error of a double-precision series, rounded once. (ISA: 2^-22.)
inline float Log2Approx(float x) {
  const bool subnormal = x < 0x1p-126f;
  const float scaled = subnormal ? x * 0x1p24f : x;
  const uint32_t bits = std::bit_cast<uint32_t>(scaled);
  // Mantissa in [0.75, 1.5).
  const int32_t exponent = static_cast<int32_t>(bits - 0x3f400000u) >> 23;
  const float mantissa = std::bit_cast<float>(bits - (static_cast<uint32_t>(exponent) << 23));
  const double m = mantissa;
  const double s = (m - 1) / (m + 1);
  const double z = s * s;
  double p = 2.8853900817779268 / 13;
  p = p * z + 2.8853900817779268 / 11;
  p = p * z + 2.8853900817779268 / 9;
  p = p * z + 2.8853900817779268 / 7;
  p = p * z + 2.8853900817779268 / 5;
  p = p * z + 2.8853900817779268 / 3;
  p = p * z + 2.8853900817779268;
  const double e = static_cast<double>(exponent - (subnormal ? 24 : 0));
  const float value = static_cast<float>(p * s + e);
  const float infinity = std::numeric_limits<float>::infinity();
  const float positive = x == infinity ? infinity : value;
  const float zero_or_less = x == 0 ? -infinity : std::bit_cast<float>(0x7fffffffu);
  return x > 0 ? positive : zero_or_less;
}

// tanh(x): relative error below 2^-20. (ISA: 2^-11.)
inline float TanhApprox(float x) {
  const float a = std::fabs(x);
  const float z = x * x;
  const float series =
      x * std::fma(z, std::fma(z, std::fma(z, -17.0f / 315, 2.0f / 15), -1.0f / 3), 1.0f);
  const float e = Exp2Approx(a * -2.885390081777927f);  // exp(-2 a)
  const float large = std::copysign((1.0f - e) / (1.0f + e), x);
  const float value = a < 0.25f ? series : large;
  return x != x ? std::bit_cast<float>(0x7fffffffu) : (z == 0 ? x : value);
}

}  // namespace onepass::sim
