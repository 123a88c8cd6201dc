// Arithmetic of f16 and bf16 on eight values at a time: widened to f32, computed there, rounded.
//
// Sums and products of halves are exact in f32, or keep so many bits more than a half that rounding
// twice is rounding once; a fused multiply-add is rounded to odd on the way, which has the same
// effect. What may lie outside f32's normal range is left to functions of one lane (half.h).
#pragma once

#include <immintrin.h>

#include <type_traits>
#include <utility>

#include "runtime/sim/lanes.h"

namespace onepass::sim {

template <class H>
inline __m256 WidenHalves(__m128i halves) {
  if constexpr (std::is_same_v<H, F16>) return _mm256_cvtph_ps(halves);
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

// To nearest even; NaN becomes 0x7fff.
template <class H>
inline __m128i NarrowHalves(__m256 values) {
  const __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
  const __m256 is_nan = _mm256_cmp_ps(values, values, _CMP_UNORD_Q);
  if constexpr (std::is_same_v<H, F16>) {
    return _mm256_cvtps_ph(_mm256_blendv_ps(values, nan, is_nan), _MM_FROUND_TO_NEAREST_INT);
  }
  const __m256i bits = _mm256_castps_si256(values);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i half = _mm256_add_epi32(_mm256_set1_epi32(0x7fff), odd);
  const __m256 rounded = _mm256_castsi256_ps(_mm256_add_epi32(bits, half));
  const __m256i kept =
      _mm256_srli_epi32(_mm256_castps_si256(_mm256_blendv_ps(rounded, nan, is_nan)), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(kept), _mm256_extracti128_si256(kept, 1));
}

// The operations. Lanes of `unsure` that are not zero afterwards ask for the functions of one lane;
// kSure: there are none.
template <class H>
struct AddWide {
  static constexpr int kSources = 2;
  static constexpr bool kSure = true;
  static __m256 Of(__m256&, __m256 a, __m256 b) { return a + b; }
};

template <class H>
struct SubWide {
  static constexpr int kSources = 2;
  static constexpr bool kSure = true;
  static __m256 Of(__m256&, __m256 a, __m256 b) { return a - b; }
};

inline __m256 Magnitude(__m256 a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }

template <class H>
struct MulWide {
  static constexpr int kSources = 2;
  static constexpr bool kSure = std::is_same_v<H, F16>;
  static __m256 Of(__m256& unsure, __m256 a, __m256 b) {
    const __m256 product = a * b;
    if constexpr (!kSure) {  // a subnormal product has been rounded
      const __m256 zero = _mm256_setzero_ps();
      const __m256 tiny = _mm256_cmp_ps(Magnitude(product), _mm256_set1_ps(0x1p-126f), _CMP_LT_OQ);
      const __m256 factors =
          _mm256_and_ps(_mm256_cmp_ps(a, zero, _CMP_NEQ_OQ), _mm256_cmp_ps(b, zero, _CMP_NEQ_OQ));
      unsure = _mm256_or_ps(unsure, _mm256_and_ps(tiny, factors));
    }
    return product;
  }
};

template <class H>
struct FmaWide {
  static constexpr int kSources = 3;
  static constexpr bool kSure = std::is_same_v<H, F16>;
  static __m256 Of(__m256& unsure, __m256 a, __m256 b, __m256 c) {
    const __m256 product = MulWide<H>::Of(unsure, a, b);
    const __m256 sum = product + c;
    if constexpr (!kSure) {  // nothing below overflows where these are not huge
      const __m256 most = _mm256_set1_ps(0x1p126f);
      const __m256 huge = _mm256_or_ps(_mm256_cmp_ps(Magnitude(product), most, _CMP_NLT_UQ),
                                       _mm256_cmp_ps(Magnitude(c), most, _CMP_NLT_UQ));
      unsure = _mm256_or_ps(unsure, huge);
    }
    // Knuth's two-sum: the error of the addition, exactly; NaN where the sum is not finite. To odd:
    // one back where the sum went too far, then the last bit says that something is missing.
    const __m256 part = sum - product;
    const __m256 error = (product - (sum - part)) + (c - part);
    const __m256i bits = _mm256_castps_si256(sum);
    const __m256i apart = _mm256_xor_si256(bits, _mm256_castps_si256(error));
    const __m256i nearer = _mm256_add_epi32(bits, _mm256_srai_epi32(apart, 31));
    const __m256i odd = _mm256_or_si256(nearer, _mm256_set1_epi32(1));
    const __m256 inexact = _mm256_cmp_ps(error, _mm256_setzero_ps(), _CMP_NEQ_OQ);
    return _mm256_blendv_ps(sum, _mm256_castsi256_ps(odd), inexact);
  }
};

// An ExecFn for rows of H, or of pairs of them. kGeneral does the same lane by lane.
template <class H, bool kPair, class Math, ExecFn kGeneral>
struct WideHalves {
  static const Op* Run(const Op& op, Warp& warp) {
    return RunIndexed(op, warp, std::make_index_sequence<Math::kSources>());
  }

 private:
  static constexpr int kWords = kPair ? 4 : 8;  // of eight halves

  template <size_t... I>
  static const Op* RunIndexed(const Op& op, Warp& warp, std::index_sequence<I...>) {
    const uint32_t* const from[] = {warp.In<uint32_t>(op.r[1 + I])...};
    alignas(64) uint32_t lanes[32];
    uint32_t* const to = warp.Out<uint32_t>(op.r[0]);
    const bool at_once = Math::kSure && warp.exec == kAllLanes;
    uint32_t* const out = at_once ? to : lanes;
    __m256 unsure = _mm256_setzero_ps();
    for (int word = 0; word < 32; word += kWords) {
      Store(out + word, NarrowHalves<H>(Math::Of(unsure, Load(from[I] + word)...)));
    }
    if (at_once) return &op + 1;
    const __m256i asked = _mm256_castps_si256(unsure);
    if (!Math::kSure && !_mm256_testz_si256(asked, asked)) [[unlikely]]
      return kGeneral(op, warp);
    Blend(to, lanes, warp.exec);
    return &op + 1;
  }

  static __m256 Load(const uint32_t* words) {
    if constexpr (kPair) {
      return WidenHalves<H>(_mm_loadu_si128(reinterpret_cast<const __m128i*>(words)));
    }
    const __m256i low = _mm256_and_si256(
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)), _mm256_set1_epi32(0xffff));
    return WidenHalves<H>(
        _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1)));
  }
  static void Store(uint32_t* words, __m128i halves) {
    if constexpr (kPair) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(words), halves);
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(words), _mm256_cvtepu16_epi32(halves));
    }
  }
};

}  // namespace onepass::sim
