#include "runtime/reference/element.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace onepass {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ElementTest, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float half = FloatOfHalf(bits), bfloat = FloatOfBfloat(bits);
    if (std::isnan(half)) {
      EXPECT_TRUE(std::isnan(FloatOfHalf(HalfOf(half))));
    } else {
      ASSERT_EQ(HalfOf(half), bits);
    }
    if (std::isnan(bfloat)) {
      EXPECT_TRUE(std::isnan(FloatOfBfloat(BfloatOf(bfloat))));
    } else {
      ASSERT_EQ(BfloatOf(bfloat), bits);
    }
  }
}

// Between two neighbours, `low` with even and `high` with odd last bit or the other way round.
template <typename Convert, typename Back>
void ExpectRoundsToNearestEven(Convert convert, Back back) {
  for (uint32_t low = 1; low + 1 < 0x7c00; low += 37) {
    const double a = back(low), b = back(low + 1), middle = (a + b) / 2, nudge = (b - a) * 1e-9;
    const uint32_t even = low % 2 == 0 ? low : low + 1;
    ASSERT_EQ(convert(middle), even);
    // Through a float these would be rounded to the middle first.
    ASSERT_EQ(convert(middle - nudge), low);
    ASSERT_EQ(convert(middle + nudge), low + 1);
    ASSERT_EQ(convert(-middle - nudge), (low + 1) | 0x8000);
  }
}

TEST(ElementTest, RoundsOnceToNearestEven) {
  ExpectRoundsToNearestEven(HalfOf, FloatOfHalf);
  ExpectRoundsToNearestEven(BfloatOf, FloatOfBfloat);
}

TEST(ElementTest, OverflowIsInfiniteAndTinyIsZero) {
  EXPECT_EQ(HalfOf(65519.99), 0x7bff);
  EXPECT_EQ(HalfOf(65520), 0x7c00);
  EXPECT_EQ(HalfOf(-1e300), 0xfc00);
  EXPECT_EQ(HalfOf(0x1p-25), 0);
  EXPECT_EQ(HalfOf(0x1.0001p-25), 1);
  EXPECT_EQ(HalfOf(-0.0), 0x8000);
  EXPECT_EQ(BfloatOf(1e300), 0x7f80);
  EXPECT_EQ(BfloatOf(0x1.fep127), 0x7f7f);
  EXPECT_EQ(BfloatOf(0x1.ffp127), 0x7f80);
  EXPECT_EQ(BfloatOf(kInfinity), 0x7f80);
}

TEST(ElementTest, StridedElementsAreFoundAndLeftAlone) {
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16, DType::kF64, DType::kI64}) {
    std::vector<uint8_t> data(40 * 8, 0);
    const std::vector<double> values = {1, -2, 3, 4, 5, -6, 7, 8, 9, 10};
    StoreElements(dtype, values.data(), values.size(), 3, 3, data.data());
    std::vector<long double> read(values.size());
    LoadElements(dtype, data.data(), 3, 3, read.size(), read.data());
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(read[i], values[i]);
    std::vector<double> all(40);
    LoadElements(dtype, data.data(), 0, 1, all.size(), all.data());
    for (int i = 0; i < 40; ++i) {
      const bool stored = i % 3 == 0 && i >= 3 && i <= 30;
      EXPECT_EQ(all[i], stored ? values[i / 3 - 1] : 0) << ToString(dtype) << " " << i;
    }
  }
}

TEST(ElementTest, FormatsSayWhatTheTypesHold) {
  EXPECT_EQ(FormatOf(DType::kF32).largest, std::numeric_limits<float>::max());
  EXPECT_EQ(FormatOf(DType::kF32).unit_roundoff, 0x1p-24);
  EXPECT_EQ(FormatOf(DType::kF32).least_exponent, -126);
  EXPECT_EQ(FormatOf(DType::kF64).unit_roundoff, 0x1p-53);
  EXPECT_EQ(FormatOf(DType::kF16).largest, FloatOfHalf(0x7bff));
  EXPECT_EQ(FormatOf(DType::kF16).least_normal, FloatOfHalf(0x0400));
  EXPECT_EQ(FormatOf(DType::kF16).least_subnormal, FloatOfHalf(1));
  EXPECT_EQ(FormatOf(DType::kBF16).largest, FloatOfBfloat(0x7f7f));
  EXPECT_EQ(FormatOf(DType::kBF16).least_normal, FloatOfBfloat(0x0080));
  EXPECT_EQ(FormatOf(DType::kBF16).least_subnormal, FloatOfBfloat(1));
  // The overflow threshold is the middle between the largest and what would follow it.
  EXPECT_EQ(static_cast<float>(static_cast<double>(FormatOf(DType::kF32).overflow)),
            std::numeric_limits<float>::infinity());
  EXPECT_EQ(
      static_cast<float>(std::nextafter(static_cast<double>(FormatOf(DType::kF32).overflow), 0)),
      std::numeric_limits<float>::max());
}

}  // namespace
}  // namespace onepass
