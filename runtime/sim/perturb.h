// Results of `.approx` operations that err as much as their documentation lets them.
//
// The PTX ISA bounds the errors of approximate operations and leaves the bits to each chip. With
// GpuOptions::approx_seed a launch gets other bits inside the bounds, the same for the same
// operands: 1 gives the largest result that is allowed, 2 the smallest, any other seed one
// somewhere between. What the ISA states as a value (zeros, infinities, NaN, subnormals that pass)
// stays.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "runtime/sim/half.h"
#include "runtime/sim/lanes.h"
#include "runtime/sim/random.h"

namespace onepass::sim {

// A result r is allowed where |r - value| <= error. error 0: nothing is said about it.
struct ApproxBound {
  double value = 0;
  double error = 0;
};

// The values here have rounding errors of their own: a little stays free.
inline constexpr double kMost = 1 - 0x1p-20;
inline ApproxBound WithinAbsolute(double value, double error) { return {value, error * kMost}; }
inline ApproxBound WithinRelative(double value, double error) {
  return {value, std::fabs(value) * error * kMost};
}
// So many units in the last place of f32; 0 where the value is zero or has no last place.
inline double Ulps(double value, int count) {
  if (value == 0 || !std::isfinite(value)) return 0;
  return std::ldexp(count, std::ilogb(value) - 23);
}
inline ApproxBound WithinUlps(double value, int ulps) { return {value, Ulps(value, ulps) * kMost}; }

inline constexpr double kTenthOfOctave = 1.0717734625362931;  // 2^0.1

// The bounds of the operations, by their exact results. Of f32 where not said otherwise.
inline ApproxBound Exp2Bound(double x) {  // two steps from the correctly rounded result
  const float rounded = static_cast<float>(std::exp2(x));
  return {rounded, Ulps(rounded, 2)};
}
inline ApproxBound Log2Bound(double x) {
  const bool near = x > 0.5 && x < 2;
  return near ? WithinAbsolute(std::log2(x), 0x1p-22) : WithinRelative(std::log2(x), 0x1p-22);
}
inline ApproxBound ReciprocalBound(double x) { return WithinUlps(1 / x, 1); }
inline ApproxBound DivisionBound(double x, double y) { return WithinUlps(x / y, 2); }
inline ApproxBound RsqrtBound(double x) {
  return WithinRelative(1 / std::sqrt(x), kTenthOfOctave * 0x1p-23);  // 2^-22.9
}
inline ApproxBound SqrtBound(double x) { return WithinRelative(std::sqrt(x), 0x1p-23); }
inline double TrigonometricError(double x) {
  const double turns = std::fabs(x) / 6.283185307179586;
  if (turns > 50) return 0;
  return turns <= 1 ? 1.4142135623730951 * 0x1p-21
                    : 1.2311444133449163 * 0x1p-15;  // 2^-20.5, 2^-14.7
}
inline ApproxBound SineBound(double x) {
  return WithinAbsolute(std::sin(x), TrigonometricError(x));
}
inline ApproxBound CosineBound(double x) {
  return WithinAbsolute(std::cos(x), TrigonometricError(x));
}
inline ApproxBound TanhBound(double x) { return WithinRelative(std::tanh(x), 0x1p-11); }
inline ApproxBound Exp2F16Bound(double x) {
  return WithinRelative(std::exp2(x), kTenthOfOctave * 0x1p-10);  // 2^-9.9
}
inline ApproxBound Exp2Bf16Bound(double x) { return WithinRelative(std::exp2(x), 0x1p-7); }
inline ApproxBound TanhF16Bound(double x) {
  return WithinAbsolute(std::tanh(x), 1.0090516338446813 * 0x1p-11);  // 2^-10.987
}
inline ApproxBound TanhBf16Bound(double x) { return WithinAbsolute(std::tanh(x), 0x1p-8); }

// Where in [-1, 1] of the bound a result lies.
inline double PlaceInBound(uint64_t seed, uint64_t operands) {
  if (seed <= 2) return seed == 1 ? 1 : -1;
  return static_cast<double>(Random(seed, operands).Next() >> 11) * 0x1p-52 - 1;
}

inline float NextTowards(float from, double to) {
  return std::nextafterf(from, from < to ? HUGE_VALF : -HUGE_VALF);
}
inline F16 NextTowards(F16 from, double to) {
  const bool grows = (ToFloat(from) < to) != ((from.bits & 0x8000) != 0);
  return {static_cast<uint16_t>(grows ? from.bits + 1 : from.bits - 1)};
}
inline Bf16 NextTowards(Bf16 from, double to) {
  const bool grows = (ToFloat(from) < to) != ((from.bits & 0x8000) != 0);
  return {static_cast<uint16_t>(grows ? from.bits + 1 : from.bits - 1)};
}
inline double ValueOfApprox(float value) { return value; }
inline double ValueOfApprox(F16 value) { return ToFloat(value); }
inline double ValueOfApprox(Bf16 value) { return ToFloat(value); }
inline float RoundApprox(float, double value) { return static_cast<float>(value); }
inline F16 RoundApprox(F16 as, double value) { return RoundHalf(as, value); }
inline Bf16 RoundApprox(Bf16 as, double value) { return RoundHalf(as, value); }

// A T inside the bound; `plain` where there is none or its rounding alone leaves it.
template <class T>
T Perturbed(T plain, ApproxBound bound, uint64_t seed, uint64_t operands) {
  const double at = ValueOfApprox(plain);
  const double least = std::is_same_v<T, F16> ? 0x1p-14 : 0x1p-126;
  if (!std::isfinite(at) || std::fabs(at) < least || !(bound.error > 0)) return plain;
  const double target = bound.value + PlaceInBound(seed, operands) * bound.error;
  T result = RoundApprox(plain, target);
  if (std::fabs(ValueOfApprox(result) - bound.value) > bound.error) {
    result = NextTowards(result, bound.value);
  }
  const double found = ValueOfApprox(result);
  const bool good = std::fabs(found - bound.value) <= bound.error && std::fabs(found) >= least;
  return good ? result : plain;
}

// Fn of one value, somewhere within kBound.
template <auto Fn, auto kBound, class T, class... A>
T PerturbedOf(uint64_t seed, T (*)(A...), A... operands) {
  const T plain = Fn(operands...);
  uint64_t bits = 0;
  ((bits = bits * 0x100000001b3 + ToBits<A>(operands)), ...);
  const auto counts = [](double x) { return std::isfinite(x) && x != 0; };
  if (!(counts(ValueOfApprox(operands)) && ...)) return plain;
  return Perturbed(plain, kBound(ValueOfApprox(operands)...), seed, bits);
}

// Elementwise<Fn> that a launch may ask to err within kBound.
template <auto Fn, auto kBound>
struct Approximate;
template <class T, class... A, T (*Fn)(A...), auto kBound>
struct Approximate<Fn, kBound> {
  static const Op* Run(const Op& op, Warp& warp) {
    const uint64_t seed = warp.block->launch->approx_seed;
    if (seed == 0) [[likely]]
      return Elementwise<Fn>::Run(op, warp);
    return RunIndexed(op, warp, seed, std::index_sequence_for<A...>());
  }

 private:
  template <size_t... I>
  static const Op* RunIndexed(const Op& op, Warp& warp, uint64_t seed, std::index_sequence<I...>) {
    alignas(64) BitsFor<T> lanes[32];
    for (int i = 0; i < 32; ++i) {
      lanes[i] =
          ToBits<T>(PerturbedOf<Fn, kBound>(seed, Fn, SourceRow<A>(warp, op.r[1 + I]).At(i)...));
    }
    Blend(warp.Out<BitsFor<T>>(op.r[0]), lanes, warp.exec);
    return &op + 1;
  }
};

// The same for both halves of a pair.
template <class Pair, auto Fn, auto kBound>
struct ApproximatePair;
template <class Pair, class H, H (*Fn)(H), auto kBound>
struct ApproximatePair<Pair, Fn, kBound> {
  static Pair Both(Pair a) { return PairOf(Fn(Low(a)), Fn(High(a))); }
  static const Op* Run(const Op& op, Warp& warp) {
    const uint64_t seed = warp.block->launch->approx_seed;
    if (seed == 0) [[likely]]
      return Elementwise<&Both>::Run(op, warp);
    const SourceRow<Pair> in(warp, op.r[1]);
    alignas(64) uint32_t lanes[32];
    for (int i = 0; i < 32; ++i) {
      lanes[i] = PairOf(PerturbedOf<Fn, kBound>(seed, Fn, Low(in.At(i))),
                        PerturbedOf<Fn, kBound>(seed, Fn, High(in.At(i))))
                     .bits;
    }
    Blend(warp.Out<uint32_t>(op.r[0]), lanes, warp.exec);
    return &op + 1;
  }
};

// The pick for an approximate function of one lane.
template <auto Fn, auto kBound>
Pick ApproximateLanes() {
  Pick pick = Lanes<Fn>();
  pick.fn = &Approximate<Fn, kBound>::Run;
  return pick;
}

}  // namespace onepass::sim
