// Statistics of a set of values, never by E[x*x] - E[x]^2, and their merging over the lanes of a
// warp, the warps of a block and the blocks of a reduction, always in the same order.
#pragma once

namespace onepass_kernel {

// Count, mean and sum of squared deviations of a set.
template <class C>
struct Moments {
  C count;
  C mean;
  C m2;
};

__device__ __forceinline__ bool IsFinite(float x) { return fabsf(x) <= 3.402823466e38f; }
__device__ __forceinline__ bool IsFinite(double x) { return fabs(x) <= 1.7976931348623157e308; }

// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances" (1979).
// One infinite value makes the mean infinite, not NaN.
template <class C>
__device__ __forceinline__ Moments<C> Merge(const Moments<C>& a, const Moments<C>& b) {
  if (b.count == C(0)) return a;
  if (a.count == C(0)) return b;
  const C count = a.count + b.count;
  const C delta = b.mean - a.mean;
  const C weight = b.count / count;
  const C mean = IsFinite(delta) ? a.mean + delta * weight : a.mean + b.mean;
  return {count, mean, a.m2 + b.m2 + delta * delta * (a.count * weight)};
}

// The moments of a resident set from its provisional mean m and the sums of d = x - m and d * d:
// the rounding of m is undone, so that a constant set has exactly its mean and no deviation.
template <class C>
__device__ __forceinline__ Moments<C> Corrected(C count, C provisional, C sum_d, C sum_d2) {
  if (count == C(0)) return {C(0), C(0), C(0)};
  const C shift = sum_d / count;
  const C m2 = sum_d2 - sum_d * shift;
  return {count, IsFinite(provisional) ? provisional + shift : provisional, m2 < C(0) ? C(0) : m2};
}

__device__ __forceinline__ float ShuffleXor(float value, int lanes) {
  return __shfl_xor_sync(0xffffffffu, value, lanes);
}
__device__ __forceinline__ double ShuffleXor(double value, int lanes) {
  return __shfl_xor_sync(0xffffffffu, value, lanes);
}
template <class C>
__device__ __forceinline__ Moments<C> ShuffleXor(const Moments<C>& value, int lanes) {
  return {ShuffleXor(value.count, lanes), ShuffleXor(value.mean, lanes),
          ShuffleXor(value.m2, lanes)};
}

// Lanes whose numbers are equal modulo kStride are combined; every lane has the result.
template <int kStride, class C>
__device__ __forceinline__ C WarpSum(C value) {
#pragma unroll
  for (int lanes = 16; lanes >= kStride; lanes >>= 1) value += ShuffleXor(value, lanes);
  return value;
}
// Symmetric, so that both partners get the same bits.
template <int kStride, class C>
__device__ __forceinline__ Moments<C> WarpMerge(Moments<C> value) {
#pragma unroll
  for (int lanes = 16; lanes >= kStride; lanes >>= 1) {
    const Moments<C> other = ShuffleXor(value, lanes);
    const bool upper = (threadIdx.x & lanes) != 0;
    value = upper ? Merge(other, value) : Merge(value, other);
  }
  return value;
}

// Sums over all kThreads threads of a block; every thread has the result. `scratch` holds kThreads
// / 32 values and is free again on return.
template <int kThreads, class C>
__device__ __forceinline__ C BlockSum(C value, C* scratch) {
  constexpr int kWarps = kThreads / 32;
  value = WarpSum<1>(value);
  if constexpr (kWarps > 1) {
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < kWarps ? scratch[threadIdx.x % 32] : C(0);
    value = WarpSum<1>(value);
    __syncthreads();
  }
  return value;
}

// The same for moments.
template <int kThreads, class C>
__device__ __forceinline__ Moments<C> BlockMerge(Moments<C> value, Moments<C>* scratch) {
  constexpr int kWarps = kThreads / 32;
  value = WarpMerge<1>(value);
  if constexpr (kWarps > 1) {
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < kWarps ? scratch[threadIdx.x % 32] : Moments<C>{C(0), C(0), C(0)};
    value = WarpMerge<1>(value);
    __syncthreads();
  }
  return value;
}

}  // namespace onepass_kernel
