#include "runtime/reference/random.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace onepass {

namespace {

// SplitMix64's finaliser (Steele, Lea, Flood 2014).
inline uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

inline uint64_t Bits(uint64_t key, uint64_t index) {
  return Mix(key + index * 0x9e3779b97f4a7c15u);
}

// A 32-bit integer as a double, without a conversion that would not vectorise.
inline double DoubleOf32(uint64_t low) {
  return std::bit_cast<double>(low | 0x4330000000000000u) - 0x1p52;
}

// log(x) for x in [2^-60, 2], to a few units of the last place: x = 2^k m with m in [0.7, 1.42],
// log m = 2 atanh((m-1)/(m+1)).
inline double Log(double x) {
  constexpr uint64_t kLeastM = 0x3fe6a09e00000000u;  // sqrt(1/2)
  constexpr uint64_t kMantissa = 0x000fffffffffffffu;
  const uint64_t above = std::bit_cast<uint64_t>(x) - kLeastM + (uint64_t{64} << 52);
  const double k = DoubleOf32(above >> 52) - 64;
  const double m = std::bit_cast<double>((above & kMantissa) + kLeastM);
  const double s = (m - 1) / (m + 1), z = s * s;
  double sum = 1.0 / 19;
  for (double odd : {17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0, 1.0}) sum = sum * z + 1 / odd;
  return k * 0.69314718055994530942 + 2 * s * sum;
}

// cos(2 pi t) for t in [0, 1), as the sine of a quarter turn less the angle folded about half a
// turn.
inline double CosTurn(double t) {
  const double quarter = std::fabs(t - 0.5) - 0.25;
  const double a = quarter * 6.283185307179586477, z = a * a;
  double sum = 1.0 / 51090942171709440000.0;
  for (double coefficient : {-1.0 / 121645100408832000.0, 1.0 / 355687428096000.0,
                             -1.0 / 1307674368000.0, 1.0 / 6227020800.0, -1.0 / 39916800.0,
                             1.0 / 362880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0}) {
    sum = sum * z + coefficient;
  }
  return sum * a;
}

// Without the errno of std::sqrt, which would keep the loop around it scalar.
void SquareRoots(double* values, int64_t count) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    _mm256_storeu_pd(values + i, _mm256_sqrt_pd(_mm256_loadu_pd(values + i)));
  }
  for (; i < count; ++i) values[i] = std::sqrt(values[i]);
}

}  // namespace

uint64_t StreamKey(uint64_t seed, uint64_t stream) {
  return Mix(Mix(seed + 0x9e3779b97f4a7c15u) + stream * 0xd1342543de82ef95u + 1);
}

// Box and Muller's cosine branch; 32 bits each for the radius and the angle.
void DrawNormal(uint64_t key, int64_t first, int64_t step, int64_t count, double* out) {
  constexpr int64_t kBlock = 256;
  double angles[kBlock];
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t length = std::min(kBlock, count - begin);
    double* block = out + begin;
    for (int64_t i = 0; i < length; ++i) {
      const uint64_t bits = Bits(key, static_cast<uint64_t>(first + (begin + i) * step));
      block[i] = -2 * Log((DoubleOf32(bits >> 32) + 0.5) * 0x1p-32);
      angles[i] = DoubleOf32(bits & 0xffffffffu) * 0x1p-32;
    }
    SquareRoots(block, length);
    for (int64_t i = 0; i < length; ++i) block[i] *= CosTurn(angles[i]);
  }
}

void DrawUniform(uint64_t key, int64_t first, int64_t step, int64_t count, double* out) {
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = Bits(key, static_cast<uint64_t>(first + i * step));
    out[i] = std::bit_cast<double>(bits >> 12 | 0x3ff0000000000000u) - 1;
  }
}

}  // namespace onepass
