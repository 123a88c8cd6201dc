// Statistics of a set of values, never by E[x*x] - E[x]^2, and their merging over the lanes of a
// warp, the warps of a block and the blocks of a reduction, always in the same order. Where sums or
// squares overflow, or squares vanish, they are taken once more: sums weighted and squares in a
// unit, both powers of two.
//
// S is Single<C> or Pair<C>: how squares are carried.
#pragma once

#include "arguments.cuh"
#include "pair.cuh"

namespace onepass_kernel {

__device__ __forceinline__ bool IsFinite(float x) { return fabsf(x) <= 3.402823466e38f; }
__device__ __forceinline__ bool IsFinite(double x) { return fabs(x) <= 1.7976931348623157e308; }

// Where the squares of deviations are near an end of the range, they are taken in units of kDown or
// kUp. Those below kSmall matter only beside an eps below kEps; an eps above kLarge needs kDown
// itself.
template <class C>
struct Range {
  static constexpr bool kFloat = sizeof(C) == 4;
  static constexpr C kLarge = kFloat ? C(0x1p50) : C(0x1p400);
  static constexpr C kSmall = kFloat ? C(0x1p-50) : C(0x1p-400);
  static constexpr C kDown = kFloat ? C(0x1p-90) : C(0x1p-600);
  static constexpr C kUp = kFloat ? C(0x1p100) : C(0x1p600);
  static constexpr C kRootOfUp = kFloat ? C(0x1p50) : C(0x1p300);
  static constexpr double kEps = kFloat ? 0x1p-80 : 0x1p-760;
};
template <class C>
__device__ __forceinline__ C UnitFor(C deviation, double eps) {
  using R = Range<C>;
  if (deviation < R::kSmall && eps < R::kEps) return R::kUp;
  return deviation <= R::kLarge && eps <= R::kLarge ? C(1) : R::kDown;
}

// The weight of each of `count` values in a sum that cannot overflow: the largest power of two that
// is at most 1 / count. Only sums in units of kDown need it; others might lose subnormals to it.
template <class C>
__device__ constexpr C WeightOf(int count) {
  C weight = C(1);
  while (weight * C(count) > C(1)) weight *= C(0.5);
  return weight;
}

// How deviations are taken: squared in units of `unit`, and added, as values are, with `weight`.
template <class C>
struct Scale {
  C unit = C(1);
  C weight = C(1);
  __device__ static __forceinline__ Scale Of(C unit, double weight_of_all) {
    return {unit, unit < C(1) ? static_cast<C>(weight_of_all) : C(1)};
  }
};

// A mean of `count` values that is still to be corrected, unless it is `exact`.
template <class C>
struct Provisional {
  C count;
  C mean;
  Scale<C> scale;
  bool exact = false;
  __device__ __forceinline__ C Scaled(C x) const { return x * scale.unit; }
};
// From a sum of weighted values. Where F is not centred, the moments are those about 0 and the sum
// is not used.
template <class F, class C>
__device__ __forceinline__ Provisional<C> ProvisionalOf(C count, C sum, Scale<C> scale = {}) {
  if constexpr (F::kCentred) return {count, sum / (count * scale.weight), scale};
  return {count, C(0), scale, /*exact=*/true};
}

// The share of one thread in sum(d) and sum(d * d), d = (x - mean) * unit about a provisional mean.
// sum(d) is weighted.
template <class S>
struct Deviations {
  using C = typename S::Compute;
  S sum = {};
  S squares = {};

  __device__ __forceinline__ void Add(C x, const Provisional<C>& about) {
    sum.high = fma(AddSquare(x, about), about.scale.weight, sum.high);
  }
  // Values of one set. Their sum comes first: added one by one to a large sum, alike values would
  // all be rounded alike.
  template <int kCount>
  __device__ __forceinline__ void Add(const C (&x)[kCount], const Provisional<C>& about) {
    C own = C(0);
#pragma unroll
    for (int i = 0; i < kCount; ++i) own = fma(AddSquare(x[i], about), about.scale.weight, own);
    AddTo(sum, own);
  }
  // A set of values by its moments.
  template <class Moments>
  __device__ __forceinline__ void AddSet(const Moments& set, const Provisional<C>& about) {
    if (set.count == C(0)) return;
    const C d = fma(set.mean, about.scale.unit, -about.Scaled(about.mean));
    AddTo(sum, d * (set.count * about.scale.weight));
    squares = Plus(squares, Plus(set.m2, d * d * set.count));
  }

 private:
  static __device__ __forceinline__ void AddTo(Single<C>& total, C value) { total.high += value; }
  static __device__ __forceinline__ void AddTo(Pair<C>& total, C value) {
    const Pair<C> next = TwoSum(total.high, value);
    total.high = next.high;
    total.low += next.low;
  }
  // Adds d * d and returns d.
  __device__ __forceinline__ C AddSquare(C x, const Provisional<C>& about) {
    const C centre = about.Scaled(about.mean);
    if constexpr (sizeof(S) == sizeof(C)) {
      const C d = fma(x, about.scale.unit, -centre);
      squares.high = fma(d, d, squares.high);
      return d;
    } else {
      const Pair<C> d = TwoSum(about.Scaled(x), -centre);
      const Pair<C> square = TwoProduct(d.high, d.high);
      AddTo(squares, square.high);
      squares.low += fma(d.high + d.high, d.low, square.low);
      return d.high;
    }
  }
};

// Count, mean and sum of squared deviations of a set, the last in units squared.
template <class S>
struct Moments {
  using C = typename S::Compute;
  C count;
  C mean;
  S m2;
};

// From a provisional mean and the deviations from it: the rounding of the mean is undone, so that a
// constant set has exactly its mean and no deviation.
template <class S, class C = typename S::Compute>
__device__ __forceinline__ Moments<S> Corrected(const Provisional<C>& about,
                                                const Deviations<S>& d) {
  const C count = about.count;
  if (count == C(0)) return {C(0), C(0), S{}};
  if (about.exact) return {count, about.mean, d.squares};
  const C shift = Rounded(d.sum) / (count * about.scale.weight);
  const S m2 = Plus(d.squares, -(shift * shift * count));
  return {count, IsFinite(about.mean) ? about.mean + shift / about.scale.unit : about.mean,
          m2.high < C(0) ? S{} : m2};
}

// One infinite value makes the mean infinite, not NaN.
template <class C>
__device__ __forceinline__ C MergedMean(C mean_a, C share_a, C mean_b, C share_b) {
  const C delta = mean_b - mean_a;
  return IsFinite(delta) ? fma(delta, share_b, mean_a) : mean_a * share_a + mean_b * share_b;
}
// Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample
// variances" (1979).
template <class S, class C = typename S::Compute>
__device__ __forceinline__ Moments<S> Merge(const Moments<S>& a, const Moments<S>& b, C unit) {
  if (b.count == C(0)) return a;
  if (a.count == C(0)) return b;
  const C count = a.count + b.count;
  const C share = b.count / count;
  const C delta = b.mean * unit - a.mean * unit;
  return {count, MergedMean(a.mean, a.count / count, b.mean, share),
          Plus(Plus(a.m2, b.m2), delta * delta * (a.count * share))};
}

// Count, mean and standard deviation (biased) of a set: as wide in range as the values are, hence
// what is handed to another block.
template <class S>
struct Spread {
  using C = typename S::Compute;
  C count;
  C mean;
  S deviation;
};
template <class S, class C = typename S::Compute>
__device__ __forceinline__ Spread<S> SpreadOf(const Moments<S>& moments, C unit) {
  if (moments.count == C(0)) return {};
  return {moments.count, moments.mean,
          Scaled(Root(Quotient(moments.m2, moments.count)), C(1) / unit)};
}
template <class S, class C = typename S::Compute>
__device__ __forceinline__ Moments<S> MomentsOf(const Spread<S>& spread, C unit) {
  return {spread.count, spread.mean, Times(Square(Scaled(spread.deviation, unit)), spread.count)};
}

// The unit that should have been taken for a spread that was measured in units of 1: another one
// where squares overflowed or vanished. Squares that vanish about a large mean are zeros.
template <class S>
__device__ __forceinline__ typename S::Compute BetterUnit(const Spread<S>& spread, double eps) {
  using C = typename S::Compute;
  if (!IsFinite(spread.deviation.high)) return Range<C>::kDown;
  const C unit = UnitFor(spread.deviation.high, eps);
  return unit > C(1) && fabs(spread.mean) < C(1) ? unit : C(1);
}

__device__ __forceinline__ float ShuffleXor(float value, int lanes) {
  return __shfl_xor_sync(0xffffffffu, value, lanes);
}
__device__ __forceinline__ double ShuffleXor(double value, int lanes) {
  return __shfl_xor_sync(0xffffffffu, value, lanes);
}
template <class C>
__device__ __forceinline__ Single<C> ShuffleXor(const Single<C>& value, int lanes) {
  return {ShuffleXor(value.high, lanes)};
}
template <class C>
__device__ __forceinline__ Pair<C> ShuffleXor(const Pair<C>& value, int lanes) {
  return {ShuffleXor(value.high, lanes), ShuffleXor(value.low, lanes)};
}
__device__ __forceinline__ float Plus(float a, float b) { return a + b; }
__device__ __forceinline__ double Plus(double a, double b) { return a + b; }

// Lanes whose numbers are equal modulo kStride are combined; every lane has the result.
template <int kStride, class T>
__device__ __forceinline__ T WarpSum(T value) {
#pragma unroll
  for (int lanes = 16; lanes >= kStride; lanes >>= 1) value = Plus(value, ShuffleXor(value, lanes));
  return value;
}

// Sums over all kThreads threads of a block; every thread has the result. `scratch` holds kThreads
// / 32 values and is free again on return.
template <int kThreads, class T>
__device__ __forceinline__ T BlockSum(T value, T* scratch) {
  constexpr int kWarps = kThreads / 32;
  value = WarpSum<1>(value);
  if constexpr (kWarps > 1) {
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    value = threadIdx.x % 32 < kWarps ? scratch[threadIdx.x % 32] : T{};
    value = WarpSum<1>(value);
    __syncthreads();
  }
  return value;
}

// What the reductions of a block need in shared memory, one after another.
template <int kThreads, class S>
struct BlockScratch {
  union {
    typename S::Compute sums[kThreads / 32];
    S squares[kThreads / 32];
  };
};
// The moments of the union of all threads' sets, in every thread: from their deviations, or from
// their own moments.
template <int kThreads, class S, class C = typename S::Compute>
__device__ __forceinline__ Moments<S> BlockCorrected(const Provisional<C>& about, Deviations<S> d,
                                                     BlockScratch<kThreads, S>& scratch) {
  if (!about.exact) d.sum = BlockSum<kThreads>(d.sum, scratch.squares);
  d.squares = BlockSum<kThreads>(d.squares, scratch.squares);
  return Corrected(about, d);
}
template <int kThreads, class S, class C = typename S::Compute>
__device__ __forceinline__ Moments<S> BlockMerge(const Moments<S>& own, C count, Scale<C> scale,
                                                 BlockScratch<kThreads, S>& scratch) {
  const C sum = BlockSum<kThreads>(own.mean * (own.count * scale.weight), scratch.sums);
  const Provisional<C> about = {count, sum / (count * scale.weight), scale};
  Deviations<S> d;
  d.AddSet(own, about);
  return BlockCorrected(about, d, scratch);
}

// The spread of moments_in(scale), which is called once more with a better unit if the squares
// overflowed or vanished. All threads of the block together.
template <class F, class S, class Body>
__device__ __forceinline__ Spread<S> InBestUnit(const Arguments& a, Body moments_in) {
  using C = typename S::Compute;
  C unit = C(1);
  Spread<S> result = {};
  bool again = F::Element::kWideRange;
  bool redo;
#pragma unroll 1
  do {
    result = SpreadOf(moments_in(Scale<C>::Of(unit, a.weight)), unit);
    unit = BetterUnit(result, a.eps);
    redo = again && unit != C(1);
    again = false;
  } while (F::Element::kWideRange && __syncthreads_or(redo));
  return result;
}

}  // namespace onepass_kernel
