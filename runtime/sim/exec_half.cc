// Arithmetic of f16, bf16 and their pairs.
#include <cmath>

#include "runtime/sim/approx.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"
#include "runtime/sim/perturb.h"
#include "runtime/sim/wide_half.h"

namespace onepass::sim {
namespace {

template <class H>
H FlushHalf(H a) {  // .ftz of f16
  return (a.bits & 0x7c00) == 0 ? H{static_cast<uint16_t>(a.bits & 0x8000)} : a;
}
template <class H>
H SaturateHalf(H a) {
  return NearestHalf<H>(Saturate(ToFloat(a)));
}
template <class H>
H ReluHalf(H a) {
  const bool nan = std::isnan(ToFloat(a));
  return nan ? H{0x7fff} : (a.bits & 0x8000) != 0 ? H{0} : a;
}

enum class After { kNothing, kSaturate, kRelu };

template <class H, bool kFlush, After kAfter>
H Finish(H a) {
  const H value = kFlush ? FlushHalf(a) : a;
  if constexpr (kAfter == After::kSaturate) return SaturateHalf(value);
  if constexpr (kAfter == After::kRelu) return ReluHalf(value);
  return value;
}

template <class H>
H Negative(H a) {
  return {static_cast<uint16_t>(a.bits ^ 0x8000)};
}

template <class H, bool kFlush, After kAfter>
struct Arithmetic {
  static H In(H a) { return kFlush ? FlushHalf(a) : a; }
  static H Out(H a) { return Finish<H, kFlush, kAfter>(a); }
  static H Add(H a, H b) { return Out(AddHalf(In(a), In(b))); }
  static H Sub(H a, H b) { return Out(AddHalf(In(a), Negative(In(b)))); }
  static H Mul(H a, H b) { return Out(MulHalf(In(a), In(b))); }
  static H Fma(H a, H b, H c) { return Out(FmaHalf(In(a), In(b), In(c))); }
  static H Neg(H a) { return Negative(In(a)); }
  static H Abs(H a) { return {static_cast<uint16_t>(In(a).bits & 0x7fff)}; }
};

template <class H, bool kMax, bool kNan>
H Extreme(H x, H y) {
  const float a = ToFloat(x);
  const float b = ToFloat(y);
  if (a != a || b != b) return kNan || (a != a && b != b) ? H{0x7fff} : (a != a ? y : x);
  if (a == b) return {static_cast<uint16_t>(kMax ? x.bits & y.bits : x.bits | y.bits)};
  return (a < b) == kMax ? y : x;
}

template <class H>
H Tanh(H a) {
  return NearestHalf<H>(TanhApprox(ToFloat(a)));
}
template <class H>
H Exp2(H a) {
  // The form of bf16 is always .ftz, and bf16 is subnormal where f32 is.
  constexpr bool kFlush = std::is_same_v<H, Bf16>;
  const float value = Exp2Approx(kFlush ? Flush(ToFloat(a)) : ToFloat(a));
  return NearestHalf<H>(kFlush ? Flush(value) : value);
}

// The same for both halves of a pair.
template <class Pair, auto Fn>
struct Both;
template <class Pair, class H, H (*Fn)(H)>
struct Both<Pair, Fn> {
  static Pair Run(Pair a) { return PairOf(Fn(Low(a)), Fn(High(a))); }
};
template <class Pair, class H, H (*Fn)(H, H)>
struct Both<Pair, Fn> {
  static Pair Run(Pair a, Pair b) { return PairOf(Fn(Low(a), Low(b)), Fn(High(a), High(b))); }
};
template <class Pair, class H, H (*Fn)(H, H, H)>
struct Both<Pair, Fn> {
  static Pair Run(Pair a, Pair b, Pair c) {
    return PairOf(Fn(Low(a), Low(b), Low(c)), Fn(High(a), High(b), High(c)));
  }
};

template <class H, bool kPair, auto Fn>
Pick Choose() {
  using Pair = std::conditional_t<std::is_same_v<H, F16>, F16x2, Bf16x2>;
  if constexpr (kPair) return Lanes<&Both<Pair, Fn>::Run>();
  return Lanes<Fn>();
}

// The same where a row can be computed at once.
template <class H, bool kPair, auto Fn, class Math>
Pick ChooseWide() {
  using Pair = std::conditional_t<std::is_same_v<H, F16>, F16x2, Bf16x2>;
  Pick pick = Choose<H, kPair, Fn>();
  if constexpr (kPair) {
    pick.fn = &WideHalves<H, true, Math, &Elementwise<&Both<Pair, Fn>::Run>::Run>::Run;
  } else {
    pick.fn = &WideHalves<H, false, Math, &Elementwise<Fn>::Run>::Run;
  }
  return pick;
}

template <class H, bool kPair, auto Fn, auto kBound>
Pick ChooseApprox() {
  using Pair = std::conditional_t<std::is_same_v<H, F16>, F16x2, Bf16x2>;
  Pick pick = Choose<H, kPair, Fn>();
  if constexpr (kPair) {
    pick.fn = &ApproximatePair<Pair, Fn, kBound>::Run;
  } else {
    pick.fn = &Approximate<Fn, kBound>::Run;
  }
  return pick;
}

template <class H, bool kPair, bool kFlush, After kAfter>
std::optional<Pick> PickArithmetic(std::string_view base) {
  using A = Arithmetic<H, kFlush, kAfter>;
  if constexpr (!kFlush && kAfter == After::kNothing) {
    if (base == "add") return ChooseWide<H, kPair, &A::Add, AddWide<H>>();
    if (base == "sub") return ChooseWide<H, kPair, &A::Sub, SubWide<H>>();
    if (base == "mul") return ChooseWide<H, kPair, &A::Mul, MulWide<H>>();
    if (base == "fma") return ChooseWide<H, kPair, &A::Fma, FmaWide<H>>();
  }
  if (base == "add") return Choose<H, kPair, &A::Add>();
  if (base == "sub") return Choose<H, kPair, &A::Sub>();
  if (base == "mul") return Choose<H, kPair, &A::Mul>();
  if (base == "fma") return Choose<H, kPair, &A::Fma>();
  if (base == "neg") return Choose<H, kPair, &A::Neg>();
  if (base == "abs") return Choose<H, kPair, &A::Abs>();
  return std::nullopt;
}

template <class H, bool kPair>
std::optional<Pick> PickOf(Form& form) {
  const std::string_view base = form.base();
  if (base == "max" || base == "min") {
    const bool nan = form.Take("NaN");
    if (base == "max") {
      return nan ? Choose<H, kPair, &Extreme<H, true, true>>()
                 : Choose<H, kPair, &Extreme<H, true, false>>();
    }
    return nan ? Choose<H, kPair, &Extreme<H, false, true>>()
               : Choose<H, kPair, &Extreme<H, false, false>>();
  }
  constexpr bool kF16 = std::is_same_v<H, F16>;
  if (base == "tanh" && form.Take("approx")) {
    return ChooseApprox < H, kPair, &Tanh<H>, kF16 ? &TanhF16Bound : &TanhBf16Bound > ();
  }
  if (base == "ex2" && form.Take("approx")) {
    form.Take("ftz");
    return ChooseApprox < H, kPair, &Exp2<H>, kF16 ? &Exp2F16Bound : &Exp2Bf16Bound > ();
  }
  form.Take("rn");
  const bool flush = std::is_same_v<H, F16> && form.Take("ftz");
  if (form.Take("sat")) {
    return flush ? PickArithmetic<H, kPair, true, After::kSaturate>(base)
                 : PickArithmetic<H, kPair, false, After::kSaturate>(base);
  }
  if (base == "fma" && form.Take("relu")) {
    return flush ? PickArithmetic<H, kPair, true, After::kRelu>(base)
                 : PickArithmetic<H, kPair, false, After::kRelu>(base);
  }
  return flush ? PickArithmetic<H, kPair, true, After::kNothing>(base)
               : PickArithmetic<H, kPair, false, After::kNothing>(base);
}

}  // namespace

std::optional<Pick> PickHalf(Form& form) {
  const auto type = form.TakeType();
  if (type == Type::kF16) return PickOf<F16, false>(form);
  if (type == Type::kF16x2) return PickOf<F16, true>(form);
  if (type == Type::kBf16) return PickOf<Bf16, false>(form);
  if (type == Type::kBf16x2) return PickOf<Bf16, true>(form);
  return std::nullopt;
}

}  // namespace onepass::sim
