// Moves between four rows of 32-bit values and the 16 bytes of each lane, where a vector access has
// them.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace onepass::sim {

// `place(lane)` is where a lane's bytes are.
template <class Place>
inline void Deinterleave(Place place, uint32_t* const (&to)[4]) {
  for (int i = 0; i < 32; i += 8) {
    const auto part = [&](int k) {
      const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(place(i + k)));
      const auto* high = reinterpret_cast<const __m128i*>(place(i + k + 4));
      return _mm256_inserti128_si256(_mm256_castsi128_si256(low), _mm_loadu_si128(high), 1);
    };
    const __m256i a = part(0), b = part(1), c = part(2), d = part(3);
    const __m256i ab = _mm256_unpacklo_epi32(a, b), ab2 = _mm256_unpackhi_epi32(a, b);
    const __m256i cd = _mm256_unpacklo_epi32(c, d), cd2 = _mm256_unpackhi_epi32(c, d);
    const __m256i rows[4] = {_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd),
                             _mm256_unpacklo_epi64(ab2, cd2), _mm256_unpackhi_epi64(ab2, cd2)};
    for (int n = 0; n < 4; ++n) {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to[n] + i), rows[n]);
    }
  }
}

// The lanes' bytes follow each other at `to`.
inline void Interleave(const uint32_t* const (&from)[4], uint8_t* to) {
  for (int i = 0; i < 32; i += 8, to += 128) {
    const auto row = [&](int n) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from[n] + i));
    };
    const __m256i a = row(0), b = row(1), c = row(2), d = row(3);
    const __m256i ab = _mm256_unpacklo_epi32(a, b), ab2 = _mm256_unpackhi_epi32(a, b);
    const __m256i cd = _mm256_unpacklo_epi32(c, d), cd2 = _mm256_unpackhi_epi32(c, d);
    const __m256i groups[4] = {_mm256_unpacklo_epi64(ab, cd), _mm256_unpackhi_epi64(ab, cd),
                               _mm256_unpacklo_epi64(ab2, cd2), _mm256_unpackhi_epi64(ab2, cd2)};
    for (int k = 0; k < 4; ++k) {
      auto* low = reinterpret_cast<__m128i*>(to + 16 * k);
      _mm_storeu_si128(low, _mm256_castsi256_si128(groups[k]));
      _mm_storeu_si128(low + 4, _mm256_extracti128_si256(groups[k], 1));
    }
  }
}

}  // namespace onepass::sim
