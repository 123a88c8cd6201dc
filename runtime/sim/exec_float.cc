// Arithmetic of f32: rounding modes, flushing, saturation, canonical NaN.
#include <cmath>

#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"
#include "runtime/sim/perturb.h"
#include "runtime/sim/rounded.h"

namespace onepass::sim {
namespace {

template <bool kFlush>
float In(float a) {
  return kFlush ? Flush(a) : a;
}
template <bool kFlush, bool kSaturate = false>
float Out(float a) {
  const float value = kFlush ? Flush(a) : a;
  return kSaturate ? Saturate(value) : Canonical(value);
}

template <bool kFlush, bool kSaturate>
float Add(float a, float b) {
  return Out<kFlush, kSaturate>(In<kFlush>(a) + In<kFlush>(b));
}
template <bool kFlush, bool kSaturate>
float Sub(float a, float b) {
  return Out<kFlush, kSaturate>(In<kFlush>(a) - In<kFlush>(b));
}
template <bool kFlush, bool kSaturate>
float Mul(float a, float b) {
  return Out<kFlush, kSaturate>(In<kFlush>(a) * In<kFlush>(b));
}
template <bool kFlush, bool kSaturate>
float Fma(float a, float b, float c) {
  return Out<kFlush, kSaturate>(std::fma(In<kFlush>(a), In<kFlush>(b), In<kFlush>(c)));
}
template <bool kFlush, bool>
float Div(float a, float b) {
  return Out<kFlush>(In<kFlush>(a) / In<kFlush>(b));
}

// 2^126 < |b| < 2^128: the hardware's reciprocal is flushed, and a zero times infinity is NaN.
template <bool kFlush>
float DivApprox(float a, float b) {
  const float x = In<kFlush>(a);
  const float y = In<kFlush>(b);
  const float size = std::fabs(y);
  const bool huge = size > 0x1p126f && size < std::numeric_limits<float>::infinity();
  const float zero = std::copysign(0.0f, y);
  return Out<kFlush>(huge ? x * zero : x / y);
}

template <bool kFlush>
float Neg(float a) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(In<kFlush>(a)) ^ 0x80000000u);
}
template <bool kFlush>
float Abs(float a) {
  return std::fabs(In<kFlush>(a));
}
float CopySign(float a, float b) { return std::copysign(b, a); }

// +0 is greater than -0; one NaN gives the other operand, or with .NaN a NaN.
template <bool kMax, bool kFlush, bool kNan>
float Extreme(float x, float y) {
  const float a = In<kFlush>(x);
  const float b = In<kFlush>(y);
  const uint32_t a_bits = std::bit_cast<uint32_t>(a);
  const uint32_t b_bits = std::bit_cast<uint32_t>(b);
  const float equal = std::bit_cast<float>(kMax ? a_bits & b_bits : a_bits | b_bits);
  const float ordered = a == b ? equal : ((a < b) == kMax ? b : a);
  const float one_nan = a != a ? b : a;
  const bool any_nan = a != a || b != b;
  return Canonical(any_nan ? (kNan ? std::bit_cast<float>(0x7fffffffu) : one_nan) : ordered);
}
template <bool kMax, bool kFlush, bool kNan>
float ExtremeXorSign(float a, float b) {
  const float value = Extreme<kMax, kFlush, kNan>(std::fabs(a), std::fabs(b));
  const uint32_t sign = (std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)) & 0x80000000u;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>(value != value ? bits : bits | sign);
}
template <bool kMax, bool kFlush, bool kNan>
float Extreme3(float a, float b, float c) {
  return Extreme<kMax, kFlush, kNan>(Extreme<kMax, kFlush, kNan>(a, b), c);
}

bool IsFinite(float a) { return std::isfinite(a); }
bool IsInfinite(float a) { return std::isinf(a); }
bool IsNumber(float a) { return !std::isnan(a); }
bool IsNotANumber(float a) { return std::isnan(a); }
bool IsNormal(float a) { return std::isnormal(a); }
bool IsSubnormal(float a) { return a == a && std::fabs(a) < 0x1p-126f && a != 0; }

F32x2 AddPair(F32x2 a, F32x2 b) {
  return {Add<false, false>(a.lo, b.lo), Add<false, false>(a.hi, b.hi)};
}
F32x2 SubPair(F32x2 a, F32x2 b) {
  return {Sub<false, false>(a.lo, b.lo), Sub<false, false>(a.hi, b.hi)};
}
F32x2 MulPair(F32x2 a, F32x2 b) {
  return {Mul<false, false>(a.lo, b.lo), Mul<false, false>(a.hi, b.hi)};
}
F32x2 FmaPair(F32x2 a, F32x2 b, F32x2 c) {
  return {Fma<false, false>(a.lo, b.lo, c.lo), Fma<false, false>(a.hi, b.hi, c.hi)};
}

template <bool kFlush, bool kSaturate>
std::optional<Pick> PickArithmetic(Form& form) {
  const std::string_view base = form.base();
  if (base == "add") return RoundedLanes<&Add<kFlush, kSaturate>>(form);
  if (base == "sub") return RoundedLanes<&Sub<kFlush, kSaturate>>(form);
  if (base == "mul") return RoundedLanes<&Mul<kFlush, kSaturate>>(form);
  if (base == "fma" || base == "mad") return RoundedLanes<&Fma<kFlush, kSaturate>>(form);
  if (base == "div" && !kSaturate) {
    if (form.Take("approx")) return ApproximateLanes<&DivApprox<kFlush>, DivisionBound>();
    if (form.Take("full")) return ApproximateLanes<&Div<kFlush, false>, DivisionBound>();
    return RoundedLanes<&Div<kFlush, false>>(form);
  }
  return std::nullopt;
}

template <bool kMax, bool kFlush>
std::optional<Pick> PickExtreme(Form& form, bool three) {
  const bool nan = form.Take("NaN");
  if (form.Take("xorsign")) {
    if (!form.Take("abs") || three) return std::nullopt;
    return nan ? Lanes<&ExtremeXorSign<kMax, kFlush, true>>()
               : Lanes<&ExtremeXorSign<kMax, kFlush, false>>();
  }
  if (three) {
    return nan ? Lanes<&Extreme3<kMax, kFlush, true>>() : Lanes<&Extreme3<kMax, kFlush, false>>();
  }
  return nan ? Lanes<&Extreme<kMax, kFlush, true>>() : Lanes<&Extreme<kMax, kFlush, false>>();
}

std::optional<Pick> PickClass(Form& form) {
  if (form.Take("finite")) return Lanes<&IsFinite>();
  if (form.Take("infinite")) return Lanes<&IsInfinite>();
  if (form.Take("number")) return Lanes<&IsNumber>();
  if (form.Take("notanumber")) return Lanes<&IsNotANumber>();
  if (form.Take("normal")) return Lanes<&IsNormal>();
  if (form.Take("subnormal")) return Lanes<&IsSubnormal>();
  return std::nullopt;
}

std::optional<Pick> PickPair(Form& form) {
  form.Take("rn");
  if (form.base() == "add") return Lanes<&AddPair>();
  if (form.base() == "sub") return Lanes<&SubPair>();
  if (form.base() == "mul") return Lanes<&MulPair>();
  if (form.base() == "fma") return Lanes<&FmaPair>();
  return std::nullopt;
}

}  // namespace

std::optional<Pick> PickFloat32(Form& form, int operands) {
  if (form.Take("f32x2")) return PickPair(form);
  if (!form.Take("f32")) return std::nullopt;
  const std::string_view base = form.base();
  const bool flush = form.Take("ftz");
  if (base == "neg") return flush ? Lanes<&Neg<true>>() : Lanes<&Neg<false>>();
  if (base == "abs") return flush ? Lanes<&Abs<true>>() : Lanes<&Abs<false>>();
  if (base == "copysign" && !flush) return Lanes<&CopySign>();
  if (base == "testp" && !flush) return PickClass(form);
  const bool three = operands == 4;
  if (base == "max") {
    return flush ? PickExtreme<true, true>(form, three) : PickExtreme<true, false>(form, three);
  }
  if (base == "min") {
    return flush ? PickExtreme<false, true>(form, three) : PickExtreme<false, false>(form, three);
  }
  if (form.Take("sat")) {
    return flush ? PickArithmetic<true, true>(form) : PickArithmetic<false, true>(form);
  }
  return flush ? PickArithmetic<true, false>(form) : PickArithmetic<false, false>(form);
}

}  // namespace onepass::sim
