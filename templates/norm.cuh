// What every normalisation does once the moments of a region are known: the saved and running
// statistics, and the affine map with its fused residual and activation.
#pragma once

#include "activation.cuh"
#include "arguments.cuh"
#include "moments.cuh"
#include "storage.cuh"

namespace onepass_kernel {

// The workspace behind the barrier words.
template <class T>
__device__ __forceinline__ T* Scratch(const Arguments& a) {
  return reinterpret_cast<T*>(static_cast<char*>(a.workspace) + Arguments::kBarrierBytes);
}

// How squares are carried: a factor of half a float's digits is enough for a 16-bit result.
template <class C, bool kHalf>
struct SquaresType {
  using Type = Pair<C>;
};
template <class C>
struct SquaresType<C, true> {
  using Type = Single<C>;
};
template <class F>
using Squares = typename SquaresType<typename F::Compute, F::kHalf>::Type;

// What the values of a region are normalised with: (x - mean) * factor. The factor of a Pair has
// twice the precision: x may lie many deviations from the mean, where the rounding of a factor is
// magnified.
template <class S>
struct Normaliser {
  typename S::Compute mean;
  S factor;
};

// y = act((x - mean) * factor + bias + residual), with scale in the factor.
template <class S>
struct AffineMap {
  using C = typename S::Compute;
  C mean;
  S factor;
  C bias;
};

// eps exactly as given; one that float cannot hold still counts as positive.
template <class C>
__device__ __forceinline__ C Epsilon(double eps) {
  const C rounded = static_cast<C>(eps);
  if constexpr (sizeof(C) == 4) return eps > 0.0 && rounded == 0.0f ? __int_as_float(1) : rounded;
  return rounded;
}

template <class C>
__device__ __forceinline__ Single<C> PlusEpsilon(Single<C> var, double eps) {
  return {var.high + Epsilon<C>(eps)};
}
template <class C>
__device__ __forceinline__ Pair<C> PlusEpsilon(Pair<C> var, double eps) {
  const C rounded = Epsilon<C>(eps);
  if (!IsFinite(var.high + rounded)) return {var.high + rounded, C(0)};
  const double lost = rounded < Range<C>::kSmall ? 0.0 : eps - static_cast<double>(rounded);
  return Plus(var, Pair<C>{rounded, static_cast<C>(lost)});
}

// 1 / sqrt(var + eps), in another unit where they are near an end of the range.
template <class S>
__device__ __forceinline__ S InverseRootOfVariance(S var, double eps) {
  using C = typename S::Compute;
  using R = Range<C>;
  const bool small = eps < R::kEps && var.high < R::kSmall;
  const bool large = eps > R::kLarge || var.high > R::kLarge;
  if (!small && !large) return InverseRoot(PlusEpsilon(var, eps));
  const C unit = small ? R::kRootOfUp : C(1) / R::kRootOfUp;
  const C square = unit * unit;
  return Scaled(InverseRoot(PlusEpsilon(Scaled(var, square), eps * static_cast<double>(square))),
                unit);
}

// 1 / sqrt(deviation^2 + eps)
template <class S>
__device__ __forceinline__ S InverseDeviation(S deviation, double eps) {
  using C = typename S::Compute;
  const C unit = UnitFor(deviation.high, eps);
  const double units = static_cast<double>(unit);
  return Scaled(InverseRoot(PlusEpsilon(Square(Scaled(deviation, unit)), eps * units * units)),
                unit);
}

template <class C>
__device__ __forceinline__ Single<C> ScaledBy(Single<C> factor, C scale) {
  return {factor.high * scale};
}
template <class C>
__device__ __forceinline__ Pair<C> ScaledBy(Pair<C> factor, C scale) {
  const Pair<C> product = Times(factor, scale);
  return {product.high, IsFinite(product.low) ? product.low : C(0)};
}

template <class F, class S>
__device__ __forceinline__ AffineMap<S> MapOf(const Arguments& a, long long param,
                                              const Normaliser<S>& region) {
  using C = typename S::Compute;
  using P = typename F::Param;
  AffineMap<S> map = {region.mean, region.factor, C(0)};
  if constexpr (F::kHasScale)
    map.factor = ScaledBy(region.factor, static_cast<C>(ReadParam<P>(a.scale, param)));
  if constexpr (F::kHasBias) map.bias = static_cast<C>(ReadParam<P>(a.bias, param));
  return map;
}

// In double, and never the bare variance: it may overflow where its weighted part does not.
template <class F, class S>
__device__ __forceinline__ void UpdateRunning(const Arguments& a, long long channel,
                                              const Spread<S>& spread) {
  using C = typename S::Compute;
  using P = typename F::Param;
  const double weight = a.new_weight;
  const double deviation = static_cast<double>(spread.deviation.high);
  const double old_mean = static_cast<double>(ReadParam<P>(a.running_mean, channel));
  const double old_var = static_cast<double>(ReadParam<P>(a.running_var, channel));
  const double mean = fma(weight, static_cast<double>(spread.mean), (1.0 - weight) * old_mean);
  const double var =
      fma(weight * a.var_correction * deviation, deviation, (1.0 - weight) * old_var);
  WriteParam<P>(a.running_mean, channel, static_cast<C>(mean));
  WriteParam<P>(a.running_var, channel, static_cast<C>(var));
}

// Exactly one thread of the grid passes `record` for a region; it writes the saved statistics,
// where they are outputs, and updates the running ones.
template <class F, class S>
__device__ __forceinline__ Normaliser<S> FinishRegion(const Arguments& a, long long region,
                                                      const Spread<S>& spread, bool record) {
  using C = typename S::Compute;
  using Saved = typename F::Saved;
  const S invstd = InverseDeviation(spread.deviation, a.eps);
  if (record) {
    if (F::kRunning || a.saved_invstd != nullptr) {
      if constexpr (F::kCentred) WriteParam<Saved>(a.saved_mean, region, spread.mean);
      WriteParam<Saved>(a.saved_invstd, region, invstd.high);
    }
    if constexpr (F::kRunning) UpdateRunning<F>(a, region, spread);
  }
  return {F::kCentred ? spread.mean : C(0), invstd};
}

// From the statistics that an earlier launch saved.
template <class F, class S = Squares<F>>
__device__ __forceinline__ Normaliser<S> SavedRegion(const Arguments& a, long long region) {
  using C = typename S::Compute;
  using Saved = typename F::Saved;
  C mean = C(0);
  if constexpr (F::kCentred) mean = static_cast<C>(ReadParam<Saved>(a.saved_mean, region));
  return {mean, S{static_cast<C>(ReadParam<Saved>(a.saved_invstd, region))}};
}

template <class C>
__device__ __forceinline__ C Scaled(C d, const AffineMap<Single<C>>& map) {
  return fma(d, map.factor.high, map.bias);
}
// An infinite d meets no 0 * infinity.
template <class C>
__device__ __forceinline__ C Scaled(C d, const AffineMap<Pair<C>>& map) {
  const C bias = IsFinite(d) ? fma(d, map.factor.low, map.bias) : map.bias;
  return fma(d, map.factor.high, bias);
}
// A difference that might overflow is taken of halves.
template <class F, class C, class S>
__device__ __forceinline__ C Normalise(C x, const AffineMap<S>& map) {
  const C d = x - map.mean;
  if constexpr (F::Element::kWideRange) {
    const C half = fma(x, C(0.5), C(-0.5) * map.mean);
    const C halved = fma(half, C(2) * map.factor.high, map.bias);
    if constexpr (sizeof(S) == sizeof(C)) return halved;
    if (!IsFinite(d)) return halved;
  }
  return Scaled(d, map);
}

template <class F, class C, class Map>
__device__ __forceinline__ C Epilogue(C x, const Map& map, C residual) {
  C value = x;
  if constexpr (F::kMapped) value = Normalise<F>(x, map);
  if constexpr (F::kHasResidual) value += residual;
  return F::Act::template Apply<F>(value);
}

// The map of a vector's element i: one for all, or each its own.
template <class Map>
__device__ __forceinline__ const Map& MapOfElement(const Map& shared, int) {
  return shared;
}
template <class Map, int kVector>
__device__ __forceinline__ const Map& MapOfElement(const Map (&own)[kVector], int i) {
  return own[i];
}

// One vector from x (already loaded) to y, with the map of its channel or the maps of its elements'
// channels.
template <class F, class Maps>
__device__ __forceinline__ void WriteVector(const Arguments& a, long long index,
                                            const Vector<typename F::Element, F::kVector>& x,
                                            const Maps& maps) {
  using V = Vector<typename F::Element, F::kVector>;
  using C = typename F::Compute;
  C values[F::kVector];
  C addend[F::kVector] = {};
  if constexpr (F::kHasResidual) {
    V residual;
    residual.LoadStreaming(a.residual, index);
    residual.Unpack(addend);
  }
  x.Unpack(values);
#pragma unroll
  for (int i = 0; i < F::kVector; ++i)
    values[i] = Epilogue<F>(values[i], MapOfElement(maps, i), addend[i]);
  V y;
  y.Pack(values);
  y.StoreStreaming(a.y, index);
}

}  // namespace onepass_kernel
