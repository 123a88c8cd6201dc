#include "runtime/reference/element.h"

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace onepass {

namespace {

// The float next to `value` whose last bit says whether something was cut off, so that a second
// rounding to fewer bits rounds as the first one would have.
float RoundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  if (back == value || value != value) return nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (std::fabs(back) > std::fabs(value)) --bits;
  return std::bit_cast<float>(bits | 1);
}

template <typename T>
T At(const uint8_t* data, int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T, typename Real, typename Convert>
void LoadAs(const uint8_t* data, int64_t first, int64_t stride, int64_t count, Real* out,
            Convert convert) {
  if (stride == 1) {
    const uint8_t* begin = data + first * static_cast<int64_t>(sizeof(T));
    for (int64_t i = 0; i < count; ++i) out[i] = convert(At<T>(begin, i));
    return;
  }
  for (int64_t i = 0; i < count; ++i) out[i] = convert(At<T>(data, first + i * stride));
}

template <typename T, typename Convert>
void StoreAs(const double* values, int64_t count, int64_t first, int64_t stride, uint8_t* data,
             Convert convert) {
  for (int64_t i = 0; i < count; ++i) {
    const T value = convert(values[i]);
    std::memcpy(data + (first + i * stride) * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
  }
}

// Eight at a time where they lie side by side.
template <typename Real>
void LoadHalves(const uint8_t* data, int64_t first, int64_t stride, int64_t count, Real* out) {
  int64_t done = 0;
  for (; stride == 1 && done + 8 <= count; done += 8) {
    const void* from = data + (first + done) * 2;
    alignas(32) float values[8];
    _mm256_store_ps(values, _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(from))));
    for (int i = 0; i < 8; ++i) out[done + i] = values[i];
  }
  LoadAs<uint16_t>(data, first + done * stride, stride, count - done, out + done,
                   [](uint16_t bits) { return FloatOfHalf(bits); });
}

// The largest of an 8-byte integer's range rounds to 2^63, which is where it overflows.
constexpr FloatFormat kF32 = {24,       -126,     0x1p-24,        0x1.fffffep127,
                              0x1p-126, 0x1p-149, 0x1.ffffffp127L};
constexpr FloatFormat kF64 = {
    53, -1022, 0x1p-53, 0x1.fffffffffffffp1023, 0x1p-1022, 0x1p-1074, 0x1.fffffffffffff8p1023L};
constexpr FloatFormat kF16 = {11, -14, 0x1p-11, 65504, 0x1p-14, 0x1p-24, 65520};
constexpr FloatFormat kBF16 = {8, -126, 0x1p-8, 0x1.fep127, 0x1p-126, 0x1p-133, 0x1.ffp127};
constexpr FloatFormat kI64 = {64, 0, 0, 0x1p63, 1, 0, 0x1p63};

}  // namespace

float FloatOfHalf(uint16_t bits) { return _cvtsh_ss(bits); }

float FloatOfBfloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

uint16_t HalfOf(double value) { return _cvtss_sh(RoundToOdd(value), _MM_FROUND_TO_NEAREST_INT); }

uint16_t BfloatOf(double value) {
  const float odd = RoundToOdd(value);
  const uint32_t bits = std::bit_cast<uint32_t>(odd);
  if (odd != odd) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <typename Real>
void LoadElements(DType dtype, const uint8_t* data, int64_t first, int64_t stride, int64_t count,
                  Real* out) {
  const auto same = [](auto value) { return static_cast<Real>(value); };
  switch (dtype) {
    case DType::kF32:
      return LoadAs<float>(data, first, stride, count, out, same);
    case DType::kF16:
      return LoadHalves(data, first, stride, count, out);
    case DType::kBF16:
      return LoadAs<uint16_t>(data, first, stride, count, out,
                              [](uint16_t bits) { return FloatOfBfloat(bits); });
    case DType::kF64:
      return LoadAs<double>(data, first, stride, count, out, same);
    case DType::kI64:
      return LoadAs<int64_t>(data, first, stride, count, out, same);
  }
}

template void LoadElements(DType, const uint8_t*, int64_t, int64_t, int64_t, double*);
template void LoadElements(DType, const uint8_t*, int64_t, int64_t, int64_t, long double*);

void StoreElements(DType dtype, const double* values, int64_t count, int64_t first, int64_t stride,
                   uint8_t* data) {
  switch (dtype) {
    case DType::kF32:
      return StoreAs<float>(values, count, first, stride, data,
                            [](double value) { return static_cast<float>(value); });
    case DType::kF16:
      return StoreAs<uint16_t>(values, count, first, stride, data, HalfOf);
    case DType::kBF16:
      return StoreAs<uint16_t>(values, count, first, stride, data, BfloatOf);
    case DType::kF64:
      return StoreAs<double>(values, count, first, stride, data,
                             [](double value) { return value; });
    case DType::kI64:
      return StoreAs<int64_t>(values, count, first, stride, data,
                              [](double value) { return static_cast<int64_t>(value); });
  }
}

const FloatFormat& FormatOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return kF32;
    case DType::kF64:
      return kF64;
    case DType::kF16:
      return kF16;
    case DType::kBF16:
      return kBF16;
    case DType::kI64:
      return kI64;
  }
  return kF32;
}

}  // namespace onepass
