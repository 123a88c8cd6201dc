#include "runtime/sim/small_float.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "runtime/sim/half.h"

namespace onepass::sim {
namespace {

TEST(SmallFloatTest, EveryHalfSurvivesTheRoundTrip) {
  for (const Format& format : {kF16Format, kBf16Format, kE4m3Format, kE5m2Format}) {
    const uint32_t count = 2u << (format.exponent_bits + format.mantissa_bits);
    for (uint32_t bits = 0; bits < count; ++bits) {
      const double value = ValueOf(format, bits);
      const uint32_t back = RoundTo(format, value, Rounding::kNearest);
      EXPECT_EQ(back, std::isnan(value) ? format.nan : bits);
    }
  }
}

TEST(SmallFloatTest, NearestAgreesWithTheHostsConversion) {
  std::mt19937 random(3);
  for (int i = 0; i < 200000; ++i) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(random()));
    EXPECT_EQ(RoundTo(kF16Format, value, Rounding::kNearest), ToF16(value).bits);
    EXPECT_EQ(RoundTo(kBf16Format, value, Rounding::kNearest), ToBf16(value).bits);
  }
}

TEST(SmallFloatTest, DirectedModesBracketTheValue) {
  const double value = 1.0 + 0x1p-12;
  EXPECT_EQ(RoundTo(kF16Format, value, Rounding::kDown), 0x3c00u);
  EXPECT_EQ(RoundTo(kF16Format, value, Rounding::kUp), 0x3c01u);
  EXPECT_EQ(RoundTo(kF16Format, -value, Rounding::kUp), 0xbc00u);
  EXPECT_EQ(RoundTo(kF16Format, -value, Rounding::kZero), 0xbc00u);
  EXPECT_EQ(RoundTo(kF16Format, 1e6, Rounding::kZero), 0x7bffu);
  EXPECT_EQ(RoundTo(kF16Format, 1e6, Rounding::kNearest), 0x7c00u);
  EXPECT_EQ(RoundTo(kF16Format, 1e6, Rounding::kNearest, /*saturate=*/true), 0x7bffu);
  EXPECT_EQ(RoundTo(kTf32Format, 1.0 + 0x1p-11, Rounding::kNearestAway), (127u << 10) + 1);
}

// Through f32 this product rounds twice and gives another last bit.
TEST(SmallFloatTest, FmaOfHalvesRoundsOnce) {
  std::mt19937 random(5);
  int differs = 0;
  for (int i = 0; i < 300000; ++i) {
    const F16 a{static_cast<uint16_t>(random())};
    const F16 b{static_cast<uint16_t>(random())};
    const F16 c{static_cast<uint16_t>(random())};
    const long double exact =
        static_cast<long double>(ToFloat(a)) * ToFloat(b) + static_cast<long double>(ToFloat(c));
    if (!std::isfinite(exact) || exact == 0) continue;
    // The sum of a 22-bit product and an 11-bit addend in the range of f16 is exact in 64 bits, or
    // the addend is far below half an ulp.
    const F16 got = FmaHalf(a, b, c);
    const float value = ToFloat(got);
    if (std::isinf(value)) continue;
    const float next = ToFloat(F16{static_cast<uint16_t>(got.bits + 1)});
    const float previous = ToFloat(F16{static_cast<uint16_t>(got.bits - 1)});
    const long double error = std::fabs(exact - value);
    EXPECT_TRUE(std::isinf(next) || error <= std::fabs(exact - next));
    EXPECT_TRUE(error <= std::fabs(exact - previous) || value == 0);
    differs += ToF16(std::fma(ToFloat(a), ToFloat(b), ToFloat(c))).bits != got.bits;
  }
  EXPECT_LT(differs, 1000);
}

}  // namespace
}  // namespace onepass::sim
