// Normalisation by the moments of x, Row geometry: one block holds one row in registers and shared
// memory. x is read once, and twice more by the rare row whose squares leave the arithmetic type's
// range.
//
// F: Element, Param, Saved, Compute, Act, kThreads, kVector, kRegisterVectors, kSharedVectors,
// kWriteVectors, kInner, kParamRun, kWideIndex, kMapped, kHasScale, kHasBias, kHasResidual,
// kCentred, kRunning, kHalf, kAlpha, kBeta. Grid: one block a row. Dynamic shared memory:
// kSharedVectors * kThreads accesses.
#pragma once

#include "held.cuh"
#include "row_maps.cuh"

namespace onepass_kernel {

// The moments of a row from memory.
template <class F, class S, class C = typename S::Compute>
__device__ __forceinline__ Moments<S> RemeasuredRow(const Arguments& a, const OwnVectors<F>& own,
                                                    Scale<C> scale,
                                                    BlockScratch<F::kThreads, S>& scratch) {
  using V = Vector<typename F::Element, F::kVector>;
  const C n = static_cast<C>(a.reduced);
  C x[F::kVector];
  C sum = C(0);
  if constexpr (F::kCentred) {
#pragma unroll 1
    for (int slot = 0; slot < own.count; ++slot) {
      V v;
      v.Load(a.x, own.At(slot));
      v.Unpack(x);
#pragma unroll
      for (int i = 0; i < F::kVector; ++i) sum = fma(x[i], scale.weight, sum);
    }
    sum = BlockSum<F::kThreads>(sum, scratch.sums);
  }
  const Provisional<C> about = ProvisionalOf<F>(n, sum, scale);
  Deviations<S> d;
#pragma unroll 1
  for (int slot = 0; slot < own.count; ++slot) {
    V v;
    v.Load(a.x, own.At(slot));
    v.Unpack(x);
    d.Add(x, about);
  }
  return BlockCorrected(about, d, scratch);
}

template <class F>
__device__ __forceinline__ void RowPersistentBlock(const Arguments& a) {
  using C = typename F::Compute;
  using S = Squares<F>;
  using V = Vector<typename F::Element, F::kVector>;
  extern __shared__ uint4 dynamic_shared[];
  __shared__ BlockScratch<F::kThreads, S> scratch;

  const long long row = blockIdx.x;
  const OwnVectors<F> own{RowAddress<F>(a, row)};
  const auto at = [&](int slot) { return own.At(slot); };

  Held<F> held(dynamic_shared, own.count);
  held.LoadAll(a.x, at);

  C sum = C(0);
  if constexpr (F::kCentred) {
    held.Visit([&](int, const V& v) {
      C x[F::kVector];
      v.Unpack(x);
#pragma unroll
      for (int i = 0; i < F::kVector; ++i) sum += x[i];
    });
    sum = BlockSum<F::kThreads>(sum, scratch.sums);
  }
  const Provisional<C> about = ProvisionalOf<F>(static_cast<C>(a.reduced), sum);

  Deviations<S> d;
  held.Visit([&](int, const V& v) {
    C x[F::kVector];
    v.Unpack(x);
    d.Add(x, about);
  });
  Spread<S> spread = SpreadOf(BlockCorrected(about, d, scratch), C(1));
  const C unit = BetterUnit(spread, a.eps);
  if (F::Element::kWideRange && unit != C(1)) {
    const auto scale = Scale<C>::Of(unit, a.weight);
    spread = SpreadOf(RemeasuredRow<F, S>(a, own, scale, scratch), unit);
  }
  const RowMaps<F> maps(a, row, FinishRegion<F>(a, row, spread, threadIdx.x == 0));
  held.Consume([&](int slot, const V& v) { maps.Write(own.Number(slot), at(slot), v); });
}

}  // namespace onepass_kernel
