// cvt to integers: clamped, NaN to zero or to the top bit.
#include <immintrin.h>

#include <algorithm>
#include <limits>

#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"
#include "runtime/sim/integral.h"

namespace onepass::sim {
namespace {

// Narrow signed results are extended to the 32 bits of their lane.
template <class D>
using Result = std::conditional_t<sizeof(D) >= 4, D,
                                  std::conditional_t<std::is_signed_v<D>, int32_t, uint32_t>>;

template <class D, class S, Integral kMode, bool kFlush>
Result<D> ToInteger(S a) {
  double x = Widen(a);
  if constexpr (kFlush) x = Widen(Flush(static_cast<float>(a)));
  const double rounded = ToIntegral<kMode>(x);
  constexpr double kLow = static_cast<double>(std::numeric_limits<D>::min());
  // One past the largest: exact in double for all widths.
  constexpr double kEnd = 2.0 * static_cast<double>(D{1} << (std::numeric_limits<D>::digits - 1));
  constexpr bool kNanIsZero = !std::is_same_v<S, double> && sizeof(D) < 8;
  constexpr D kNan = kNanIsZero ? D{0} : static_cast<D>(uint64_t{1} << (sizeof(D) * 8 - 1));
  if constexpr (sizeof(D) < 8) {
    const double clamped = rounded < kLow ? kLow : (rounded >= kEnd ? kEnd - 1 : rounded);
    const D value = static_cast<D>(static_cast<int64_t>(clamped != clamped ? 0.0 : clamped));
    return static_cast<Result<D>>(rounded != rounded ? kNan : value);
  }
  if (rounded != rounded) return kNan;
  if (rounded < kLow) return std::numeric_limits<D>::min();
  if (rounded >= kEnd) return std::numeric_limits<D>::max();
  return static_cast<D>(rounded);
}

// The hot case, cvt.rzi.s32.f32: the host's conversion, put right beyond its range and for NaN.
const Op* TruncateToInt32(const Op& op, Warp& warp) {
  const float* a = warp.In<float>(op.r[1]);
  alignas(64) uint32_t lanes[32];
  const __m256 end = _mm256_set1_ps(2147483648.0f);
  for (int i = 0; i < 32; i += 8) {
    const __m256 x = _mm256_loadu_ps(a + i);
    const __m256 number = _mm256_cmp_ps(x, x, _CMP_ORD_Q);
    const __m256 value = _mm256_and_ps(_mm256_castsi256_ps(_mm256_cvttps_epi32(x)), number);
    const __m256 high = _mm256_castsi256_ps(_mm256_set1_epi32(INT32_MAX));
    const __m256 result = _mm256_blendv_ps(value, high, _mm256_cmp_ps(x, end, _CMP_GE_OQ));
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes + i), _mm256_castps_si256(result));
  }
  Blend(warp.Out<uint32_t>(op.r[0]), lanes, warp.exec);
  return &op + 1;
}

template <class D, class S>
Result<D> Resize(S a) {
  return static_cast<Result<D>>(static_cast<D>(a));
}
template <class D, class S>
Result<D> ResizeSaturated(S a) {
  using W = __int128;
  const W value =
      std::min<W>(std::max<W>(a, std::numeric_limits<D>::min()), std::numeric_limits<D>::max());
  return static_cast<Result<D>>(static_cast<D>(value));
}

template <class D, class S, Integral kMode>
Pick IntegerOf(bool flush) {
  if constexpr (std::is_same_v<S, float>) {
    if (flush) return Lanes<&ToInteger<D, S, kMode, true>>();
    if constexpr (std::is_same_v<D, int32_t> && kMode == Integral::kZero) {
      return Pick{&TruncateToInt32, {Type::kB32}, {Type::kF32}};
    }
  }
  return Lanes<&ToInteger<D, S, kMode, false>>();
}

template <class D, class S>
std::optional<Pick> FloatToInteger(Form& form) {
  const bool flush = form.Take("ftz");
  form.Take("sat");  // implied
  switch (TakeIntegral(form).value_or(Integral::kZero)) {
    case Integral::kNearest:
      return IntegerOf<D, S, Integral::kNearest>(flush);
    case Integral::kZero:
      return IntegerOf<D, S, Integral::kZero>(flush);
    case Integral::kDown:
      return IntegerOf<D, S, Integral::kDown>(flush);
    case Integral::kUp:
      return IntegerOf<D, S, Integral::kUp>(flush);
  }
  return std::nullopt;
}

template <class D>
std::optional<Pick> ToIntegerFrom(Form& form, Type from) {
  const bool saturate = !IsFloat(from) && form.Take("sat");
  const auto of = [&]<class S>(S) -> std::optional<Pick> {
    return saturate ? Lanes<&ResizeSaturated<D, S>>() : Lanes<&Resize<D, S>>();
  };
  switch (from) {
    case Type::kU8:
      return of(uint8_t{});
    case Type::kS8:
      return of(int8_t{});
    case Type::kU16:
      return of(uint16_t{});
    case Type::kS16:
      return of(int16_t{});
    case Type::kU32:
      return of(uint32_t{});
    case Type::kS32:
      return of(int32_t{});
    case Type::kU64:
      return of(uint64_t{});
    case Type::kS64:
      return of(int64_t{});
    case Type::kF16:
      return FloatToInteger<D, F16>(form);
    case Type::kBf16:
      return FloatToInteger<D, Bf16>(form);
    case Type::kF32:
      return FloatToInteger<D, float>(form);
    case Type::kF64:
      return FloatToInteger<D, double>(form);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Pick> PickToInteger(Form& form, Type to, Type from) {
  switch (to) {
    case Type::kU8:
      return ToIntegerFrom<uint8_t>(form, from);
    case Type::kS8:
      return ToIntegerFrom<int8_t>(form, from);
    case Type::kU16:
      return ToIntegerFrom<uint16_t>(form, from);
    case Type::kS16:
      return ToIntegerFrom<int16_t>(form, from);
    case Type::kU32:
      return ToIntegerFrom<uint32_t>(form, from);
    case Type::kS32:
      return ToIntegerFrom<int32_t>(form, from);
    case Type::kU64:
      return ToIntegerFrom<uint64_t>(form, from);
    case Type::kS64:
      return ToIntegerFrom<int64_t>(form, from);
    default:
      return std::nullopt;
  }
}

}  // namespace onepass::sim
