// Rounding to floating formats narrower than double, in every rounding mode of PTX.
#pragma once

#include <cstdint>

namespace onepass::sim {

enum class Rounding : uint8_t {
  kNearest,      // .rn, ties to even
  kZero,         // .rz
  kDown,         // .rm
  kUp,           // .rp
  kNearestAway,  // .rna, ties away from zero
};

// A binary format: sign, `exponent_bits`, `mantissa_bits`, biased as IEEE 754 does.
struct Format {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;    // e4m3 has none: its largest exponent holds numbers, all ones is NaN
  uint32_t nan;         // the canonical NaN
  uint32_t max_finite;  // the bits of the largest number
};

inline constexpr Format kF16Format = {5, 10, true, 0x7fff, 0x7bff};
inline constexpr Format kBf16Format = {8, 7, true, 0x7fff, 0x7f7f};
inline constexpr Format kTf32Format = {8, 10, true, 0x3ffff, 0x3fbff};
inline constexpr Format kE4m3Format = {4, 3, false, 0x7f, 0x7e};
inline constexpr Format kE5m2Format = {5, 2, true, 0x7f, 0x7b};

// The bits of `value` in `format`, rounded once. Overflow goes to infinity or, where the rounding
// mode or the format says so, to the largest number. NaN becomes the format's canonical NaN.
uint32_t RoundTo(const Format& format, double value, Rounding rounding, bool saturate = false);
// Exact.
double ValueOf(const Format& format, uint32_t bits);
// a * b + c as a double rounded to odd, so that rounding it once more to a format of at most 50
// significant bits equals a single rounding. The product a * b must be exact in double.
double FmaRoundedToOdd(double a, double b, double c);
// a + b, likewise.
double AddRoundedToOdd(double a, double b);

}  // namespace onepass::sim
