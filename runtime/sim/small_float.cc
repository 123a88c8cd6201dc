#include "runtime/sim/small_float.h"

#include <bit>
#include <cmath>

namespace onepass::sim {
namespace {

// `value` / 2^quantum_exponent as an integer, rounded. `value` is not negative.
uint64_t RoundMagnitude(double value, int quantum_exponent, Rounding rounding, bool negative) {
  const double scaled = std::ldexp(value, -quantum_exponent);  // exact or far below one half
  const double floor = std::floor(scaled);
  const double rest = scaled - floor;
  const uint64_t whole = static_cast<uint64_t>(floor);
  switch (rounding) {
    case Rounding::kNearest:
      return whole + (rest > 0.5 || (rest == 0.5 && (whole & 1) != 0));
    case Rounding::kNearestAway:
      return whole + (rest >= 0.5);
    case Rounding::kDown:
      return whole + (negative && rest > 0);
    case Rounding::kUp:
      return whole + (!negative && rest > 0);
    default:
      return whole;
  }
}

bool OverflowsToInfinity(Rounding rounding, bool negative) {
  return rounding == Rounding::kNearest || rounding == Rounding::kNearestAway ||
         (rounding == Rounding::kUp && !negative) || (rounding == Rounding::kDown && negative);
}

}  // namespace

uint32_t RoundTo(const Format& format, double value, Rounding rounding, bool saturate) {
  if (std::isnan(value)) return format.nan;
  const bool negative = std::signbit(value);
  const uint32_t sign = negative ? uint32_t{1} << (format.exponent_bits + format.mantissa_bits) : 0;
  const uint32_t infinity = ((1u << format.exponent_bits) - 1) << format.mantissa_bits;
  const double magnitude = std::fabs(value);
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  if (magnitude == 0) return sign;
  uint64_t bits = ~uint64_t{0};
  if (!std::isinf(magnitude)) {
    const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
    const uint64_t mantissa =
        RoundMagnitude(magnitude, exponent - format.mantissa_bits, rounding, negative);
    // A mantissa that rounding carried into the next binade adds into the exponent by itself.
    bits = (static_cast<uint64_t>(exponent + bias - 1) << format.mantissa_bits) + mantissa;
  }
  if (bits > format.max_finite) {
    const bool was_infinite = std::isinf(magnitude);
    if (saturate || (!was_infinite && !OverflowsToInfinity(rounding, negative))) {
      return sign | format.max_finite;
    }
    return format.has_infinity ? sign | infinity : format.nan;
  }
  return sign | static_cast<uint32_t>(bits);
}

double ValueOf(const Format& format, uint32_t bits) {
  const int bias = (1 << (format.exponent_bits - 1)) - 1;
  const uint32_t mantissa = bits & ((1u << format.mantissa_bits) - 1);
  const uint32_t exponent = (bits >> format.mantissa_bits) & ((1u << format.exponent_bits) - 1);
  const bool negative = ((bits >> (format.exponent_bits + format.mantissa_bits)) & 1) != 0;
  const uint32_t magnitude = bits & ((1u << (format.exponent_bits + format.mantissa_bits)) - 1);
  double value = 0;
  if (magnitude > format.max_finite) {
    const bool infinite = format.has_infinity && mantissa == 0;
    value = infinite ? HUGE_VAL : std::nan("");
  } else if (exponent == 0) {
    value = std::ldexp(mantissa, 1 - bias - format.mantissa_bits);
  } else {
    value = std::ldexp(mantissa + (1u << format.mantissa_bits),
                       static_cast<int>(exponent) - bias - format.mantissa_bits);
  }
  return negative ? -value : value;
}

double AddRoundedToOdd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  // Knuth's two-sum: the error of the addition, exactly.
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  // The sum has an even last bit and is inexact: the odd neighbour towards the error.
  const bool away = (error > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

double FmaRoundedToOdd(double a, double b, double c) { return AddRoundedToOdd(a * b, c); }

}  // namespace onepass::sim
