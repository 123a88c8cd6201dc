// No reduction: pointwise functions, and batch normalisation with given statistics, where kChannels
// channels take turns every kInner elements (kInner is 1 in channels-last layouts; kChannels is 0
// without channels). Each thread loads kRegisterVectors vectors, then computes, then stores.
//
// F: Element, Param, Compute, Act, kThreads, kVector, kRegisterVectors, kInner, kChannels,
// kWideIndex, kMapped, kHasScale, kHasBias, kHasResidual, kHalf, kAlpha, kBeta. Grid: blocks that
// cover the vectors (see FlatBlocks in codegen/strategies/flat.cc).
#pragma once

#include "norm.cuh"

namespace onepass_kernel {

// The map of a channel from given statistics.
template <class F>
__device__ __forceinline__ auto GivenMap(const Arguments& a, long long channel) {
  using C = typename F::Compute;
  using P = typename F::Param;
  using S = Squares<F>;
  if constexpr (!F::kMapped) {
    return AffineMap<Single<C>>{};
  } else {
    const C mean = static_cast<C>(ReadParam<P>(a.mean, channel));
    const S var = {static_cast<C>(ReadParam<P>(a.var, channel))};
    return MapOf<F>(a, channel, Normaliser<S>{mean, InverseRootOfVariance(var, a.eps)});
  }
}

// The elements behind the last whole vector.
template <class F>
__device__ __forceinline__ void FlatTail(const Arguments& a, long long element) {
  using C = typename F::Compute;
  Vector<typename F::Element, 1> x;
  C value[1];
  x.LoadStreaming(a.x, element);
  x.Unpack(value);
  value[0] = F::Act::template Apply<F>(value[0]);
  x.Pack(value);
  x.StoreStreaming(a.y, element);
}

// Channels first, or no channels: a vector lies within one channel.
template <class F>
__device__ __forceinline__ void FlatRuns(const Arguments& a) {
  using V = Vector<typename F::Element, F::kVector>;
  using Index = typename IndexType<F::kWideIndex>::Type;
  const Index vectors = static_cast<Index>(a.elements / F::kVector);
  const Index first =
      static_cast<Index>(blockIdx.x) * (F::kThreads * F::kRegisterVectors) + threadIdx.x;
  V batch[F::kRegisterVectors];
#pragma unroll
  for (int i = 0; i < F::kRegisterVectors; ++i) {
    const Index v = first + i * F::kThreads;
    if (v < vectors) batch[i].LoadStreaming(a.x, v);
  }
#pragma unroll
  for (int i = 0; i < F::kRegisterVectors; ++i) {
    const Index v = first + i * F::kThreads;
    if (v >= vectors) continue;
    if constexpr (F::kChannels == 0) {
      WriteVector<F>(a, v, batch[i], GivenMap<F>(a, 0));
    } else {
      constexpr Index kRunVectors = F::kInner / F::kVector;
      WriteVector<F>(a, v, batch[i],
                     GivenMap<F>(a, v / kRunVectors % static_cast<Index>(F::kChannels)));
    }
  }
  if constexpr (F::kChannels == 0 && F::kVector > 1) {
    const long long tail = static_cast<long long>(vectors) * F::kVector + threadIdx.x;
    if (blockIdx.x == 0 && tail < a.elements) FlatTail<F>(a, tail);
  }
}

// Channels last: a thread stays on its columns for kRegisterVectors rows of the matrix.
template <class F>
__device__ __forceinline__ void FlatColumns(const Arguments& a) {
  using C = typename F::Compute;
  using V = Vector<typename F::Element, F::kVector>;
  using Index = typename IndexType<F::kWideIndex>::Type;
  constexpr Index kRowVectors = F::kChannels / F::kVector;
  constexpr Index kWidth = kRowVectors < F::kThreads ? kRowVectors : F::kThreads;
  constexpr Index kTiles = (kRowVectors + kWidth - 1) / kWidth;
  constexpr Index kRows = F::kThreads / kWidth;
  const Index column = blockIdx.x % kTiles * kWidth + threadIdx.x % kWidth;
  const Index row = (blockIdx.x / kTiles * F::kRegisterVectors) * kRows + threadIdx.x / kWidth;
  const Index rows = static_cast<Index>(a.elements / F::kChannels);
  if (threadIdx.x >= kWidth * kRows || column >= kRowVectors) return;

  V batch[F::kRegisterVectors];
#pragma unroll
  for (int i = 0; i < F::kRegisterVectors; ++i) {
    if (row + i * kRows < rows)
      batch[i].LoadStreaming(a.x, (row + i * kRows) * kRowVectors + column);
  }
  decltype(GivenMap<F>(a, 0)) maps[F::kVector];
#pragma unroll
  for (int i = 0; i < F::kVector; ++i) maps[i] = GivenMap<F>(a, column * F::kVector + i);
#pragma unroll
  for (int i = 0; i < F::kRegisterVectors; ++i) {
    if (row + i * kRows < rows) {
      WriteVector<F>(a, (row + i * kRows) * kRowVectors + column, batch[i], maps);
    }
  }
}

template <class F>
__device__ __forceinline__ void Flat(const Arguments& a) {
  if constexpr (F::kChannels > 0 && F::kInner == 1) {
    FlatColumns<F>(a);
  } else {
    FlatRuns<F>(a);
  }
}

}  // namespace onepass_kernel
