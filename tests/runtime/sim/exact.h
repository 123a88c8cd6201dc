// Arithmetic with integers, rounded once at the end: the reference for every floating format. It
// has nothing in common with the simulated GPU's, which computes in float and double.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

namespace onepass::sim {

struct Binary {  // a format
  int exponent_bits;
  int mantissa_bits;
  int Bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint64_t SignBit() const { return uint64_t{1} << (exponent_bits + mantissa_bits); }
  uint64_t Infinity() const { return ((uint64_t{1} << exponent_bits) - 1) << mantissa_bits; }
  uint64_t LeastNormal() const { return uint64_t{1} << mantissa_bits; }
};
inline constexpr Binary kBinary16 = {5, 10};
inline constexpr Binary kBrain16 = {8, 7};
inline constexpr Binary kBinary32 = {8, 23};
inline constexpr Binary kBinary64 = {11, 52};

enum class Mode { kNearest, kZero, kDown, kUp, kNearestAway };

// m * 2^e, or what is no number. `m` has at most 106 bits; its lowest bit may stand for a tail that
// was cut off ("sticky"), where there are many more bits than any format has.
struct Exact {
  bool nan = false;
  bool infinite = false;
  bool negative = false;
  unsigned __int128 m = 0;
  int e = 0;
};

inline Exact Decode(const Binary& format, uint64_t bits) {
  Exact x;
  x.negative = (bits & format.SignBit()) != 0;
  const uint64_t magnitude = bits & (format.SignBit() - 1);
  x.nan = magnitude > format.Infinity();
  x.infinite = magnitude == format.Infinity();
  const int exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  x.m = magnitude & (format.LeastNormal() - 1);
  if (exponent != 0) x.m |= format.LeastNormal();
  x.e = (exponent == 0 ? 1 : exponent) - format.Bias() - format.mantissa_bits;
  return x;
}

inline int BitLength(unsigned __int128 m) {
  const auto high = static_cast<uint64_t>(m >> 64);
  return high != 0 ? 64 + std::bit_width(high) : std::bit_width(static_cast<uint64_t>(m));
}

// The same value with its top bit at bit `top`, where it has fewer.
inline Exact Normal(Exact x, int top = 105) {
  const int shift = top + 1 - BitLength(x.m);
  if (x.m == 0 || shift < 0) return x;
  x.m <<= shift;
  x.e -= shift;
  return x;
}

inline Exact Product(const Exact& a, const Exact& b) {
  Exact p;
  p.negative = a.negative != b.negative;
  p.nan = a.nan || b.nan || (a.infinite && !b.infinite && b.m == 0) ||
          (b.infinite && !a.infinite && a.m == 0);
  p.infinite = a.infinite || b.infinite;
  p.m = a.m * b.m;
  p.e = a.e + b.e;
  return p;
}

inline Exact Sum(const Exact& a, const Exact& b, Mode mode) {
  if (a.nan || b.nan || (a.infinite && b.infinite && a.negative != b.negative))
    return {.nan = true};
  if (a.infinite || b.infinite) return a.infinite ? a : b;
  if (a.m == 0 && b.m == 0 && a.negative == b.negative) return a;
  if (a.m == 0 && b.m != 0) return b;
  if (b.m == 0 && a.m != 0) return a;
  // A product of 106 bits loses none to a shift by less than 20, after which nothing cancels.
  Exact big = Normal(a, 125);
  Exact small = Normal(b, 125);
  if (big.e < small.e || (big.e == small.e && big.m < small.m)) std::swap(big, small);
  const int shift = big.e - small.e;
  const unsigned __int128 kept = shift < 128 ? small.m >> shift : 0;
  const bool cut = shift >= 128 ? small.m != 0 : (kept << shift) != small.m;
  Exact sum = big;
  if (a.negative == b.negative) {
    sum.m = big.m + kept;
    sum.m |= cut ? 1 : 0;
  } else {
    sum.m = big.m - kept;
    if (cut) sum.m = (sum.m - 1) | 1;
    if (sum.m == 0) sum.negative = mode == Mode::kDown;
  }
  return sum;
}

inline Exact Quotient(const Exact& a, const Exact& b) {
  Exact q;
  q.negative = a.negative != b.negative;
  const bool a_zero = !a.infinite && !a.nan && a.m == 0;
  const bool b_zero = !b.infinite && !b.nan && b.m == 0;
  q.nan = a.nan || b.nan || (a_zero && b_zero) || (a.infinite && b.infinite);
  q.infinite = a.infinite || b_zero;
  if (q.nan || q.infinite || a_zero || b.infinite) return q;
  const Exact top = Normal(a);
  q.m = top.m / b.m;
  const unsigned __int128 rest = (top.m - q.m * b.m) << 20;  // in two steps: 73 bits at least
  q.m = q.m << 20 | rest / b.m;
  q.e = top.e - b.e - 20;
  if (rest % b.m != 0) q.m |= 1;  // sticky
  return q;
}

inline Exact Root(const Exact& a) {
  if (a.nan || (a.negative && (a.m != 0 || a.infinite))) return {.nan = true};
  if (a.infinite || a.m == 0) return a;
  Exact x = Normal(a, 125);
  if ((x.e & 1) != 0) {
    x.m <<= 1;
    --x.e;
  }
  unsigned __int128 root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const unsigned __int128 next = root | static_cast<unsigned __int128>(1) << bit;
    if (next * next <= x.m) root = next;
  }
  x.e /= 2;
  if (root * root != x.m) {  // 63 or 64 bits; one more, which is sticky
    root = root << 1 | 1;
    --x.e;
  }
  x.m = root;
  return x;
}

// Rounded to the format, or `nan`.
inline uint64_t Encode(const Binary& format, const Exact& x, Mode mode, uint64_t nan) {
  if (x.nan) return nan;
  const uint64_t sign = x.negative ? format.SignBit() : 0;
  if (x.infinite) return sign | format.Infinity();
  if (x.m == 0) return sign;
  const int least = 1 - format.Bias() - format.mantissa_bits;  // exponent of the last place
  const int top = x.e + BitLength(x.m) - 1 - format.mantissa_bits;
  const int place = top > least ? top : least;
  const int shift = place - x.e;
  unsigned __int128 m = shift <= 0 ? x.m << -shift : shift < 128 ? x.m >> shift : 0;
  const unsigned __int128 rest = shift <= 0 ? 0 : shift < 128 ? x.m - (m << shift) : x.m;
  const unsigned __int128 half = shift <= 0 || shift > 127
                                     ? ~static_cast<unsigned __int128>(0)
                                     : static_cast<unsigned __int128>(1) << (shift - 1);
  bool up = false;
  if (mode == Mode::kNearest) up = rest > half || (rest == half && (m & 1) != 0);
  if (mode == Mode::kNearestAway) up = rest >= half && rest != 0;
  if (mode == Mode::kDown) up = x.negative && rest != 0;
  if (mode == Mode::kUp) up = !x.negative && rest != 0;
  m += up ? 1 : 0;
  // A carry, and a subnormal that became normal, add into the exponent by themselves.
  const auto bits = static_cast<unsigned __int128>(place - least) * format.LeastNormal() + m;
  if (bits < format.Infinity()) return sign | static_cast<uint64_t>(bits);
  const bool to_infinity = mode == Mode::kNearest || mode == Mode::kNearestAway ||
                           (mode == Mode::kDown && x.negative) ||
                           (mode == Mode::kUp && !x.negative);
  return sign | (to_infinity ? format.Infinity() : format.Infinity() - 1);
}

}  // namespace onepass::sim
