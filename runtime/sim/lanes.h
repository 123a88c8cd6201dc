// Loops over the 32 lanes of a warp, made from functions of one lane.
//
// Elementwise<&Fn>::Run is an ExecFn for Fn(A, B, ...) -> R: r[0] is the destination, r[1...] are
// the sources. The loops have a constant length and no dependence between lanes, so that the
// compiler vectorises them. A destination row may be the same row as a source; rows never overlap
// otherwise.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "runtime/sim/pick.h"
#include "runtime/sim/warp.h"

namespace onepass::sim {

// The lane type of the row in which a T lies.
template <class T>
using BitsFor = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
inline T FromBits(BitsFor<T> bits) {
  if constexpr (sizeof(T) == 1) {
    return std::bit_cast<T>(static_cast<uint8_t>(bits));
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<T>(static_cast<uint16_t>(bits));
  } else {
    return std::bit_cast<T>(bits);
  }
}

template <class T>
inline BitsFor<T> ToBits(T value) {
  if constexpr (sizeof(T) == 1) {
    return std::bit_cast<uint8_t>(value);
  } else if constexpr (sizeof(T) == 2) {
    return std::bit_cast<uint16_t>(value);
  } else {
    return std::bit_cast<BitsFor<T>>(value);
  }
}

template <class T>
struct SourceRow {
  SourceRow(const Warp& warp, RowRef ref) : row(warp.In<BitsFor<T>>(ref)) {}
  T At(int i) const { return FromBits<T>(row[i]); }
  const BitsFor<T>* row;
};

template <>
struct SourceRow<bool> {
  SourceRow(const Warp& warp, RowRef ref) : mask(*warp.In<uint32_t>(ref)) {}
  bool At(int i) const { return (mask >> i & 1) != 0; }
  uint32_t mask;
};

// to[i] = from[i] for the lanes of `mask`.
template <class Bits>
inline void Blend(Bits* to, const Bits* from, uint32_t mask) {
#pragma GCC ivdep
  for (int i = 0; i < 32; ++i) {
    const Bits keep = static_cast<Bits>(mask >> i & 1) - 1;
    to[i] = (to[i] & keep) | (from[i] & ~keep);
  }
}

// The sign bits of 32 lanes.
inline uint32_t SignMask(const int32_t* lanes) {
  uint32_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const __m256i part = _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes + 8 * i));
    mask |= static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(part))) << (8 * i);
  }
  return mask;
}

template <auto Fn>
struct Elementwise;

template <class R, class... A, R (*Fn)(A...)>
struct Elementwise<Fn> {
  static const Op* Run(const Op& op, Warp& warp) {
    return RunIndexed(op, warp, std::index_sequence_for<A...>());
  }

  static Pick Picked() { return {&Run, {TypeOf<R>()}, {TypeOf<A>()...}}; }

  // The predicate Fn(...) of every lane.
  static uint32_t Test(SourceRow<A>... in) {
    alignas(32) int32_t lanes[32];
#pragma GCC ivdep
    for (int i = 0; i < 32; ++i) lanes[i] = Fn(in.At(i)...) ? -1 : 0;
    return SignMask(lanes);
  }

 private:
  template <size_t... I>
  static const Op* RunIndexed(const Op& op, Warp& warp, std::index_sequence<I...>) {
    if constexpr (std::is_same_v<R, bool>) {
      warp.SetMask(op.r[0], Test(SourceRow<A>(warp, op.r[1 + I])...));
    } else {
      Map(warp.Out<BitsFor<R>>(op.r[0]), warp.exec, SourceRow<A>(warp, op.r[1 + I])...);
    }
    return &op + 1;
  }

  static void Map(BitsFor<R>* out, uint32_t exec, SourceRow<A>... in) {
    if (exec == kAllLanes) [[likely]] {
#pragma GCC ivdep
      for (int i = 0; i < 32; ++i) out[i] = ToBits<R>(Fn(in.At(i)...));
    } else {
      alignas(64) BitsFor<R> lanes[32];
#pragma GCC ivdep
      for (int i = 0; i < 32; ++i) lanes[i] = ToBits<R>(Fn(in.At(i)...));
      Blend(out, lanes, exec);
    }
  }
};

// The pick for a function of one lane.
template <auto Fn>
Pick Lanes() {
  return Elementwise<Fn>::Picked();
}

}  // namespace onepass::sim
