// cvt with one source: between all scalar types, in all rounding modes.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"
#include "runtime/sim/integral.h"
#include "runtime/sim/rounded.h"

namespace onepass::sim {
namespace {

template <class D, class S>
D Arithmetic(S a) {
  return static_cast<D>(a);
}

template <Integral kMode, bool kFlush, bool kSaturate>
float RoundFloat(float a) {
  const float x = kFlush ? Flush(a) : a;
  const float value = static_cast<float>(ToIntegral<kMode>(x));
  return kSaturate ? Saturate(value) : Canonical(value);
}
template <bool kFlush, bool kSaturate>
float SameFloat(float a) {
  const float x = kFlush ? Flush(a) : a;
  return kSaturate ? Saturate(x) : Canonical(x);
}
template <Integral kMode>
double RoundDouble(double a) {
  return ToIntegral<kMode>(a);
}
double SaturateDouble(double a) { return Saturate(a); }
template <Integral kMode>
F16 RoundHalfToIntegral(F16 a) {
  return ToF16(static_cast<float>(ToIntegral<kMode>(ToFloat(a))));
}
template <Integral kMode>
Bf16 RoundBf16ToIntegral(Bf16 a) {
  return ToBf16(static_cast<float>(ToIntegral<kMode>(ToFloat(a))));
}

template <bool kFlush, bool kSaturate>
float FromDouble(double a) {
  const float value = static_cast<float>(a);
  const float flushed = kFlush ? Flush(value) : value;
  return kSaturate ? Saturate(flushed) : Canonical(flushed);
}
template <bool kFlush>
double FromFloat(float a) {
  return kFlush ? Flush(a) : a;
}
template <class H, bool kFlush>
float FromHalf(H a) {
  return Canonical(kFlush ? Flush(ToFloat(a)) : ToFloat(a));
}
template <class H>
double HalfToDouble(H a) {
  return ToFloat(a);
}

// To f16 and bf16 by the generic rounding; the nearest of f32 has functions of its own.
template <class H, class S, Rounding kRounding, bool kRelu, bool kSaturate>
H Narrow(S a) {
  constexpr Format kFormat = std::is_same_v<H, F16> ? kF16Format : kBf16Format;
  double value = 0;
  if constexpr (std::is_integral_v<S> && sizeof(S) == 8) {
    // Both parts are exact; rounding their sum to odd keeps the later rounding single.
    value = AddRoundedToOdd(std::ldexp(static_cast<double>(a >> 32), 32),
                            static_cast<double>(static_cast<uint32_t>(a)));
  } else {
    value = Widen(a);
  }
  if constexpr (kRelu) value = value < 0 || (value == 0 && std::signbit(value)) ? 0 : value;
  if constexpr (kSaturate) value = Saturate(value);
  return {static_cast<uint16_t>(RoundTo(kFormat, value, kRounding))};
}
F16 FloatToF16(float a) { return ToF16(a); }
Bf16 FloatToBf16(float a) { return ToBf16(a); }

template <Rounding kRounding>
float ToTf32(float a) {
  if (std::isnan(a)) return Canonical(a);
  return static_cast<float>(ValueOf(kTf32Format, RoundTo(kTf32Format, a, kRounding)));
}

template <class D>
std::optional<Pick> FromInteger(Form& form, Type from) {
  switch (from) {
    case Type::kU8:
      return RoundedLanes<&Arithmetic<D, uint8_t>>(form);
    case Type::kS8:
      return RoundedLanes<&Arithmetic<D, int8_t>>(form);
    case Type::kU16:
      return RoundedLanes<&Arithmetic<D, uint16_t>>(form);
    case Type::kS16:
      return RoundedLanes<&Arithmetic<D, int16_t>>(form);
    case Type::kU32:
      return RoundedLanes<&Arithmetic<D, uint32_t>>(form);
    case Type::kS32:
      return RoundedLanes<&Arithmetic<D, int32_t>>(form);
    case Type::kU64:
      return RoundedLanes<&Arithmetic<D, uint64_t>>(form);
    case Type::kS64:
      return RoundedLanes<&Arithmetic<D, int64_t>>(form);
    default:
      return std::nullopt;
  }
}

std::optional<Pick> FloatToFloat(Form& form) {
  const bool flush = form.Take("ftz");
  const bool saturate = form.Take("sat");
  const auto mode = TakeIntegral(form);
  const auto of = [&]<bool kFlush, bool kSaturate>() -> Pick {
    if (!mode) return Lanes<&SameFloat<kFlush, kSaturate>>();
    switch (*mode) {
      case Integral::kNearest:
        return Lanes<&RoundFloat<Integral::kNearest, kFlush, kSaturate>>();
      case Integral::kZero:
        return Lanes<&RoundFloat<Integral::kZero, kFlush, kSaturate>>();
      case Integral::kDown:
        return Lanes<&RoundFloat<Integral::kDown, kFlush, kSaturate>>();
      default:
        return Lanes<&RoundFloat<Integral::kUp, kFlush, kSaturate>>();
    }
  };
  if (flush) {
    return saturate ? of.operator()<true, true>() : of.operator()<true, false>();
  }
  return saturate ? of.operator()<false, true>() : of.operator()<false, false>();
}

std::optional<Pick> ToFloat32(Form& form, Type from) {
  if (from == Type::kF32) return FloatToFloat(form);
  if (!IsFloat(from)) return FromInteger<float>(form, from);
  const bool flush = form.Take("ftz");
  const bool saturate = form.Take("sat");
  if (from == Type::kF64) {
    if (flush) {
      return saturate ? RoundedLanes<&FromDouble<true, true>>(form)
                      : RoundedLanes<&FromDouble<true, false>>(form);
    }
    return saturate ? RoundedLanes<&FromDouble<false, true>>(form)
                    : RoundedLanes<&FromDouble<false, false>>(form);
  }
  if (saturate) return std::nullopt;
  if (from == Type::kF16)
    return flush ? Lanes<&FromHalf<F16, true>>() : Lanes<&FromHalf<F16, false>>();
  return flush ? Lanes<&FromHalf<Bf16, true>>() : Lanes<&FromHalf<Bf16, false>>();
}

std::optional<Pick> ToFloat64(Form& form, Type from) {
  switch (from) {
    case Type::kF64:
      if (form.Take("sat")) return Lanes<&SaturateDouble>();
      switch (TakeIntegral(form).value_or(Integral::kNearest)) {
        case Integral::kNearest:
          return Lanes<&RoundDouble<Integral::kNearest>>();
        case Integral::kZero:
          return Lanes<&RoundDouble<Integral::kZero>>();
        case Integral::kDown:
          return Lanes<&RoundDouble<Integral::kDown>>();
        default:
          return Lanes<&RoundDouble<Integral::kUp>>();
      }
    case Type::kF32:
      return form.Take("ftz") ? Lanes<&FromFloat<true>>() : Lanes<&FromFloat<false>>();
    case Type::kF16:
      return Lanes<&HalfToDouble<F16>>();
    case Type::kBf16:
      return Lanes<&HalfToDouble<Bf16>>();
    default:
      return FromInteger<double>(form, from);
  }
}

template <class H, class S, bool kRelu, bool kSaturate>
std::optional<Pick> NarrowBy(Form& form) {
  if (form.Take("rz")) return Lanes<&Narrow<H, S, Rounding::kZero, kRelu, kSaturate>>();
  if (form.Take("rm")) return Lanes<&Narrow<H, S, Rounding::kDown, kRelu, kSaturate>>();
  if (form.Take("rp")) return Lanes<&Narrow<H, S, Rounding::kUp, kRelu, kSaturate>>();
  if (!form.Take("rn")) return std::nullopt;
  if constexpr (std::is_same_v<S, float> && !kRelu && !kSaturate) {
    return std::is_same_v<H, F16> ? Lanes<&FloatToF16>() : Lanes<&FloatToBf16>();
  }
  return Lanes<&Narrow<H, S, Rounding::kNearest, kRelu, kSaturate>>();
}

template <class H, class S>
std::optional<Pick> NarrowFrom(Form& form) {
  if (form.Take("relu")) return NarrowBy<H, S, true, false>(form);
  if (form.Take("sat")) return NarrowBy<H, S, false, true>(form);
  return NarrowBy<H, S, false, false>(form);
}

template <class H>
std::optional<Pick> ToHalf(Form& form, Type from) {
  switch (from) {
    case Type::kF32:
      return NarrowFrom<H, float>(form);
    case Type::kF64:
      return NarrowFrom<H, double>(form);
    case Type::kU8:
      return NarrowFrom<H, uint8_t>(form);
    case Type::kS8:
      return NarrowFrom<H, int8_t>(form);
    case Type::kU16:
      return NarrowFrom<H, uint16_t>(form);
    case Type::kS16:
      return NarrowFrom<H, int16_t>(form);
    case Type::kU32:
      return NarrowFrom<H, uint32_t>(form);
    case Type::kS32:
      return NarrowFrom<H, int32_t>(form);
    case Type::kU64:
      return NarrowFrom<H, uint64_t>(form);
    case Type::kS64:
      return NarrowFrom<H, int64_t>(form);
    case Type::kF16:
      if constexpr (std::is_same_v<H, Bf16>) return NarrowFrom<H, F16>(form);
      break;
    case Type::kBf16:
      if constexpr (std::is_same_v<H, F16>) return NarrowFrom<H, Bf16>(form);
      break;
    default:
      break;
  }
  return std::nullopt;
}

std::optional<Pick> HalfToIntegral(Form& form, bool bf16) {
  const auto mode = TakeIntegral(form);
  if (!mode) return std::nullopt;
  switch (*mode) {
    case Integral::kNearest:
      return bf16 ? Lanes<&RoundBf16ToIntegral<Integral::kNearest>>()
                  : Lanes<&RoundHalfToIntegral<Integral::kNearest>>();
    case Integral::kZero:
      return bf16 ? Lanes<&RoundBf16ToIntegral<Integral::kZero>>()
                  : Lanes<&RoundHalfToIntegral<Integral::kZero>>();
    case Integral::kDown:
      return bf16 ? Lanes<&RoundBf16ToIntegral<Integral::kDown>>()
                  : Lanes<&RoundHalfToIntegral<Integral::kDown>>();
    case Integral::kUp:
      return bf16 ? Lanes<&RoundBf16ToIntegral<Integral::kUp>>()
                  : Lanes<&RoundHalfToIntegral<Integral::kUp>>();
  }
  return std::nullopt;
}

}  // namespace

std::optional<Pick> PickConvert(Form& form) {
  const auto to = form.TakeType();
  const auto from = form.TakeType();
  if (!to || !from) return std::nullopt;
  switch (*to) {
    case Type::kF32:
      return ToFloat32(form, *from);
    case Type::kF64:
      return ToFloat64(form, *from);
    case Type::kF16:
      return *from == Type::kF16 ? HalfToIntegral(form, false) : ToHalf<F16>(form, *from);
    case Type::kBf16:
      return *from == Type::kBf16 ? HalfToIntegral(form, true) : ToHalf<Bf16>(form, *from);
    case Type::kTf32:
      if (*from != Type::kF32) return std::nullopt;
      if (form.Take("rna")) return Lanes<&ToTf32<Rounding::kNearestAway>>();
      if (form.Take("rn")) return Lanes<&ToTf32<Rounding::kNearest>>();
      if (form.Take("rz")) return Lanes<&ToTf32<Rounding::kZero>>();
      return std::nullopt;
    default:
      return PickToInteger(form, *to, *from);
  }
}

}  // namespace onepass::sim
