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

// y = act((x - mean) * factor + bias + residual)
template <class C>
struct AffineMap {
  C mean;
  C factor;
  C bias;
};

// eps exactly as given; one that float cannot hold still counts as positive.
template <class C>
__device__ __forceinline__ C Epsilon(double eps) {
  const C rounded = static_cast<C>(eps);
  if constexpr (sizeof(C) == 4) return eps > 0.0 && rounded == 0.0f ? __int_as_float(1) : rounded;
  return rounded;
}

template <class F, class C>
__device__ __forceinline__ AffineMap<C> MapOf(const Arguments& a, long long channel, C mean,
                                              C invstd) {
  using P = typename F::Param;
  AffineMap<C> map = {mean, invstd, C(0)};
  if constexpr (F::kHasScale) map.factor = invstd * static_cast<C>(ReadParam<P>(a.scale, channel));
  if constexpr (F::kHasBias) map.bias = static_cast<C>(ReadParam<P>(a.bias, channel));
  return map;
}

// Batch normalisation of one channel in training. Exactly one thread of the grid passes `record`
// for a channel; it writes the saved statistics and updates the running ones.
template <class F, class C>
__device__ __forceinline__ AffineMap<C> FinishChannel(const Arguments& a, long long channel,
                                                      const Moments<C>& moments, bool record) {
  using P = typename F::Param;
  using Saved = typename F::Saved;
  const C var = moments.m2 / static_cast<C>(a.reduced);
  const C invstd = C(1) / sqrt(var + Epsilon<C>(a.eps));
  if (record) {
    WriteParam<Saved>(a.saved_mean, channel, moments.mean);
    WriteParam<Saved>(a.saved_invstd, channel, invstd);
    const C weight = static_cast<C>(a.new_weight);
    const C old_weight = static_cast<C>(1.0 - a.new_weight);
    const C old_mean = static_cast<C>(ReadParam<P>(a.running_mean, channel));
    const C old_var = static_cast<C>(ReadParam<P>(a.running_var, channel));
    const C sample_var = var * static_cast<C>(a.var_correction);
    WriteParam<P>(a.running_mean, channel, old_weight * old_mean + weight * moments.mean);
    WriteParam<P>(a.running_var, channel, old_weight * old_var + weight * sample_var);
  }
  return MapOf<F>(a, channel, moments.mean, invstd);
}

// The same with a factor of twice the precision: given statistics may put x many deviations from
// the mean, where the rounding of a factor is magnified.
template <class C>
struct PreciseMap {
  AffineMap<C> rounded;
  C factor_low;
};

template <class F, class C>
__device__ __forceinline__ C Normalise(C x, const AffineMap<C>& map) {
  return fma(x - map.mean, map.factor, map.bias);
}
template <class F, class C>
__device__ __forceinline__ C Normalise(C x, const PreciseMap<C>& map) {
  const C d = x - map.rounded.mean;
  const C bias = IsFinite(d) ? fma(d, map.factor_low, map.rounded.bias) : map.rounded.bias;
  return fma(d, map.rounded.factor, bias);
}

template <class F, class C, class Map>
__device__ __forceinline__ C Epilogue(C x, const Map& map, C residual) {
  C value = x;
  if constexpr (F::kMapped) value = Normalise<F>(x, map);
  if constexpr (F::kHasResidual) value += residual;
  return F::Act::template Apply<F>(value);
}

// One vector whose elements share a channel, from x (already loaded) to y.
template <class F, class Map>
__device__ __forceinline__ void WriteVector(const Arguments& a, long long index,
                                            const Vector<typename F::Element, F::kVector>& x,
                                            const Map& map) {
  using V = Vector<typename F::Element, F::kVector>;
  using C = typename F::Compute;
  V residual;
  C values[F::kVector];
  C addend[F::kVector] = {};
  if constexpr (F::kHasResidual) {
    residual.LoadStreaming(a.residual, index);
    residual.Unpack(addend);
  }
  x.Unpack(values);
#pragma unroll
  for (int i = 0; i < F::kVector; ++i) values[i] = Epilogue<F>(values[i], map, addend[i]);
  V y;
  y.Pack(values);
  y.StoreStreaming(a.y, index);
}

// The same for a vector whose elements have a channel each.
template <class F, class C, class Map>
__device__ __forceinline__ void WriteColumns(const Arguments& a, long long index,
                                             const Vector<typename F::Element, F::kVector>& x,
                                             const Map (&maps)[F::kVector]) {
  using V = Vector<typename F::Element, F::kVector>;
  C values[F::kVector];
  C addend[F::kVector] = {};
  if constexpr (F::kHasResidual) {
    V residual;
    residual.LoadStreaming(a.residual, index);
    residual.Unpack(addend);
  }
  x.Unpack(values);
#pragma unroll
  for (int i = 0; i < F::kVector; ++i) values[i] = Epilogue<F>(values[i], maps[i], addend[i]);
  V y;
  y.Pack(values);
  y.StoreStreaming(a.y, index);
}

}  // namespace onepass_kernel
