// Arithmetic of single values: f32 with PTX's NaN and flushing, f16, bf16 and their pairs.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/sim/pick.h"
#include "runtime/sim/small_float.h"

namespace onepass::sim {

// f32 results that are NaN are this one.
inline float Canonical(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>(value != value ? 0x7fffffffu : bits);
}

// .ftz: a subnormal becomes a zero of its sign.
inline float Flush(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

// .sat: [0, 1], NaN to +0.
inline float Saturate(float value) { return value > 0.0f ? (value < 1.0f ? value : 1.0f) : 0.0f; }
inline double Saturate(double value) { return value > 0 ? (value < 1 ? value : 1) : 0; }

inline float ToFloat(F16 value) { return _cvtsh_ss(value.bits); }
inline float ToFloat(Bf16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

// Rounds to nearest even, once; NaN becomes 0x7fff.
inline F16 ToF16(float value) {
  return {value != value ? uint16_t{0x7fff}
                         : static_cast<uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT))};
}
inline Bf16 ToBf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return {static_cast<uint16_t>(value != value ? 0x7fffu : rounded)};
}
// The same for H = F16 or Bf16.
template <class H>
inline H NearestHalf(float value) {
  if constexpr (std::is_same_v<H, F16>) {
    return ToF16(value);
  } else {
    return ToBf16(value);
  }
}
inline F16 RoundHalf(F16, double value) {
  return {static_cast<uint16_t>(RoundTo(kF16Format, value, Rounding::kNearest))};
}
inline Bf16 RoundHalf(Bf16, double value) {
  return {static_cast<uint16_t>(RoundTo(kBf16Format, value, Rounding::kNearest))};
}

// Sums and products of two halves: f32 holds those of f16 well enough to round twice; bf16 needs
// double where the result is subnormal.
inline F16 AddHalf(F16 a, F16 b) { return ToF16(ToFloat(a) + ToFloat(b)); }
inline F16 MulHalf(F16 a, F16 b) { return ToF16(ToFloat(a) * ToFloat(b)); }
inline Bf16 AddHalf(Bf16 a, Bf16 b) { return ToBf16(ToFloat(a) + ToFloat(b)); }
inline Bf16 MulHalf(Bf16 a, Bf16 b) {
  const float product = ToFloat(a) * ToFloat(b);
  if (std::fabs(product) >= std::numeric_limits<float>::min() || product != product) {
    return ToBf16(product);
  }
  return RoundHalf(b, double{ToFloat(a)} * double{ToFloat(b)});
}
template <class H>
inline H FmaHalf(H a, H b, H c) {
  return RoundHalf(a, FmaRoundedToOdd(ToFloat(a), ToFloat(b), ToFloat(c)));
}

inline F16 Low(F16x2 pair) { return {static_cast<uint16_t>(pair.bits)}; }
inline F16 High(F16x2 pair) { return {static_cast<uint16_t>(pair.bits >> 16)}; }
inline Bf16 Low(Bf16x2 pair) { return {static_cast<uint16_t>(pair.bits)}; }
inline Bf16 High(Bf16x2 pair) { return {static_cast<uint16_t>(pair.bits >> 16)}; }
inline F16x2 PairOf(F16 low, F16 high) { return {uint32_t{high.bits} << 16 | low.bits}; }
inline Bf16x2 PairOf(Bf16 low, Bf16 high) { return {uint32_t{high.bits} << 16 | low.bits}; }

template <class Pair, class Fn>
inline Pair Pairwise(Pair a, Pair b, Fn fn) {
  return PairOf(fn(Low(a), Low(b)), fn(High(a), High(b)));
}

}  // namespace onepass::sim
