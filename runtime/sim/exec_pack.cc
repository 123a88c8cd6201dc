// cvt to and from pairs: f16x2, bf16x2, e4m3x2, e5m2x2, and cvt.pack.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"

namespace onepass::sim {
namespace {

template <bool kRelu>
float Relu(float a) {
  return kRelu && a <= 0 ? 0.0f : a;
}

// a goes to the upper half, b to the lower.
template <bool kRelu, bool kFinite>
uint32_t PackF16(float a, float b) {
  const auto one = [](float value) -> uint32_t {
    return RoundTo(kF16Format, Relu<kRelu>(value), Rounding::kNearest, kFinite);
  };
  if constexpr (!kFinite) {
    return uint32_t{ToF16(Relu<kRelu>(a)).bits} << 16 | ToF16(Relu<kRelu>(b)).bits;
  }
  return one(a) << 16 | one(b);
}
template <bool kRelu, bool kFinite>
uint32_t PackBf16(float a, float b) {
  const auto one = [](float value) -> uint32_t {
    return RoundTo(kBf16Format, Relu<kRelu>(value), Rounding::kNearest, kFinite);
  };
  if constexpr (!kFinite) {
    return uint32_t{ToBf16(Relu<kRelu>(a)).bits} << 16 | ToBf16(Relu<kRelu>(b)).bits;
  }
  return one(a) << 16 | one(b);
}
template <bool kBf16>
uint32_t PackTruncated(float a, float b) {
  const Format& format = kBf16 ? kBf16Format : kF16Format;
  return RoundTo(format, a, Rounding::kZero) << 16 | RoundTo(format, b, Rounding::kZero);
}

template <bool kE4m3, bool kRelu>
uint16_t Pack8(float a, float b) {
  const Format& format = kE4m3 ? kE4m3Format : kE5m2Format;
  const auto one = [&](float value) -> uint32_t {
    return RoundTo(format, Relu<kRelu>(value), Rounding::kNearest, true);
  };
  return static_cast<uint16_t>(one(a) << 8 | one(b));
}
template <bool kE4m3, bool kRelu>
uint16_t Narrow8(F16x2 a) {
  return Pack8<kE4m3, kRelu>(ToFloat(High(a)), ToFloat(Low(a)));
}
template <bool kE4m3, bool kRelu>
F16x2 Widen8(uint16_t a) {
  const Format& format = kE4m3 ? kE4m3Format : kE5m2Format;
  const auto one = [&](uint32_t bits) {
    return ToF16(Relu<kRelu>(static_cast<float>(ValueOf(format, bits & 0xff))));
  };
  return PairOf(one(a), one(a >> 8));
}

// d = c shifted by two results, then saturated a, then saturated b.
template <class T>
uint32_t PackIntegers(int32_t a, int32_t b, uint32_t c) {
  constexpr int kBits = sizeof(T) * 8;
  const auto one = [](int32_t value) {
    const int32_t low = std::numeric_limits<T>::min();
    const int32_t high = std::numeric_limits<T>::max();
    return static_cast<std::make_unsigned_t<T>>(std::clamp(value, low, high));
  };
  const uint32_t pair = uint32_t{one(a)} << kBits | one(b);
  return kBits == 16 ? pair : c << 16 | pair;
}

std::optional<Pick> PickSaturatedPack(Form& form) {
  if (!form.Take("sat")) return std::nullopt;
  const auto to = form.TakeType();
  const auto from = form.TakeType();
  if (!to || from != Type::kS32) return std::nullopt;
  const bool three = form.Take("b32");
  Pick pick;
  if (*to == Type::kU8) pick = Lanes<&PackIntegers<uint8_t>>();
  if (*to == Type::kS8) pick = Lanes<&PackIntegers<int8_t>>();
  if (*to == Type::kU16) pick = Lanes<&PackIntegers<uint16_t>>();
  if (*to == Type::kS16) pick = Lanes<&PackIntegers<int16_t>>();
  if (pick.fn == nullptr || (!three && BitsOf(*to) == 8)) return std::nullopt;
  if (!three) pick.from.pop_back();
  return pick;
}

std::optional<Pick> PickFromFloats(Form& form, Type to) {
  const bool relu = form.Take("relu");
  const bool finite = form.Take("satfinite");
  if (to == Type::kE4m3x2 || to == Type::kE5m2x2) {
    if (!finite || !form.Take("rn")) return std::nullopt;
    if (to == Type::kE4m3x2)
      return relu ? Lanes<&Pack8<true, true>>() : Lanes<&Pack8<true, false>>();
    return relu ? Lanes<&Pack8<false, true>>() : Lanes<&Pack8<false, false>>();
  }
  const bool bf16 = to == Type::kBf16x2;
  if (!relu && !finite && form.Take("rz")) {
    return bf16 ? Lanes<&PackTruncated<true>>() : Lanes<&PackTruncated<false>>();
  }
  if (!form.Take("rn")) return std::nullopt;
  if (finite) {
    if (bf16) return relu ? Lanes<&PackBf16<true, true>>() : Lanes<&PackBf16<false, true>>();
    return relu ? Lanes<&PackF16<true, true>>() : Lanes<&PackF16<false, true>>();
  }
  if (bf16) return relu ? Lanes<&PackBf16<true, false>>() : Lanes<&PackBf16<false, false>>();
  return relu ? Lanes<&PackF16<true, false>>() : Lanes<&PackF16<false, false>>();
}

}  // namespace

std::optional<Pick> PickPack(Form& form) {
  if (form.Take("pack")) return PickSaturatedPack(form);
  const auto to = form.TakeType();
  const auto from = form.TakeType();
  if (!to || !from) return std::nullopt;
  const bool small = *to == Type::kE4m3x2 || *to == Type::kE5m2x2;
  if (*from == Type::kF32 && (small || *to == Type::kF16x2 || *to == Type::kBf16x2)) {
    return PickFromFloats(form, *to);
  }
  const bool e4m3 = *to == Type::kE4m3x2 || *from == Type::kE4m3x2;
  if (*from == Type::kF16x2 && small && form.Take("satfinite") && form.Take("rn")) {
    const bool relu = form.Take("relu");
    if (e4m3) return relu ? Lanes<&Narrow8<true, true>>() : Lanes<&Narrow8<true, false>>();
    return relu ? Lanes<&Narrow8<false, true>>() : Lanes<&Narrow8<false, false>>();
  }
  const bool from_small = *from == Type::kE4m3x2 || *from == Type::kE5m2x2;
  if (*to == Type::kF16x2 && from_small && form.Take("rn")) {
    const bool relu = form.Take("relu");
    if (e4m3) return relu ? Lanes<&Widen8<true, true>>() : Lanes<&Widen8<true, false>>();
    return relu ? Lanes<&Widen8<false, true>>() : Lanes<&Widen8<false, false>>();
  }
  return std::nullopt;
}

}  // namespace onepass::sim
