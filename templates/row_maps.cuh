// The affine maps of one row: one for all of it, or one for every kParamRun of its elements.
#pragma once

#include "norm.cuh"
#include "row.cuh"

namespace onepass_kernel {

// Parameters group * kCount to group * kCount + kCount - 1, in accesses of at most 16 bytes, which
// must be aligned.
template <class T, class C, int kCount>
__device__ __forceinline__ void ReadParams(const void* base, long long group, C (&values)[kCount]) {
  constexpr int kMost = 16 / static_cast<int>(sizeof(typename T::Raw));
  constexpr int kEach = kCount < kMost ? kCount : kMost;
#pragma unroll
  for (int at = 0; at < kCount; at += kEach) {
    Vector<T, kEach> v;
    typename T::Compute own[kEach];
    v.Load(base, group * (kCount / kEach) + at / kEach);
    v.Unpack(own);
#pragma unroll
    for (int i = 0; i < kEach; ++i) values[at + i] = static_cast<C>(own[i]);
  }
}

template <class F>
struct RowMaps {
  using C = typename F::Compute;
  using P = typename F::Param;
  using S = Squares<F>;
  using V = Vector<typename F::Element, F::kVector>;
  using Index = typename RowAddress<F>::Index;

  const Arguments& a;
  Normaliser<S> row;
  Index first;          // number of the first element's parameters
  AffineMap<S> shared;  // of the whole row

  __device__ __forceinline__ RowMaps(const Arguments& arguments, long long number,
                                     const Normaliser<S>& normaliser)
      : a(arguments),
        row(normaliser),
        first(static_cast<Index>(number) * static_cast<Index>(a.params_per_row) %
              static_cast<Index>(a.param_period)),
        shared() {
    if constexpr (F::kParamRun == 0) shared = MapOf<F>(a, first, row);
  }

  // From x, already loaded, to y: vector `v` of the row, which lies at `index`.
  __device__ __forceinline__ void Write(Index v, Index index, const V& x) const {
    if constexpr (F::kParamRun == 0) {
      WriteVector<F>(a, index, x, shared);
    } else if constexpr (F::kParamRun == 1) {
      AffineMap<S> own[F::kVector];
      EachItsOwn(first / F::kVector + v, own);
      WriteVector<F>(a, index, x, own);
    } else {
      constexpr Index kRunVectors = F::kParamRun / F::kVector;
      WriteVector<F>(a, index, x, MapOf<F>(a, first + v / kRunVectors, row));
    }
  }

 private:
  __device__ __forceinline__ void EachItsOwn(long long group,
                                             AffineMap<S> (&own)[F::kVector]) const {
    C scale[F::kVector];
    C bias[F::kVector] = {};
    if constexpr (F::kHasScale) ReadParams<P>(a.scale, group, scale);
    if constexpr (F::kHasBias) ReadParams<P>(a.bias, group, bias);
#pragma unroll
    for (int i = 0; i < F::kVector; ++i) {
      own[i] = {row.mean, row.factor, bias[i]};
      if constexpr (F::kHasScale) own[i].factor = ScaledBy(row.factor, scale[i]);
    }
  }
};

}  // namespace onepass_kernel
