// Batch normalisation in training, Row geometry: one block holds one row (channel) in registers and
// shared memory. x is read once, and twice more by the rare row whose squares leave the arithmetic
// type's range.
//
// F: Element, Param, Saved, Compute, Act, kThreads, kVector, kRegisterVectors, kSharedVectors,
// kWriteVectors, kInner, kWideIndex, kMapped, kHasScale, kHasBias, kHasResidual, kHalf, kAlpha,
// kBeta. Grid: one block a row. Dynamic shared memory: kSharedVectors * kThreads accesses.
#pragma once

#include "held.cuh"
#include "norm.cuh"
#include "row.cuh"

namespace onepass_kernel {

// The moments of a row from memory, in units of `unit`. A thread's vectors are at(0) to at(count).
template <class F, class S, class C, class At>
__device__ __forceinline__ Moments<S> RemeasuredRow(const Arguments& a, At at, int count, C unit,
                                                    BlockScratch<F::kThreads, S>& scratch) {
  using V = Vector<typename F::Element, F::kVector>;
  const C n = static_cast<C>(a.reduced);
  const C weight = unit < C(1) ? static_cast<C>(a.weight) : C(1);
  C x[F::kVector];
  C sum = C(0);
#pragma unroll 1
  for (int slot = 0; slot < count; ++slot) {
    V v;
    v.Load(a.x, at(slot));
    v.Unpack(x);
#pragma unroll
    for (int i = 0; i < F::kVector; ++i) sum = fma(x[i], weight, sum);
  }
  const C provisional = BlockSum<F::kThreads>(sum, scratch.sums) / (n * weight);
  Deviations<S> d;
#pragma unroll 1
  for (int slot = 0; slot < count; ++slot) {
    V v;
    v.Load(a.x, at(slot));
    v.Unpack(x);
    d.Add(x, provisional * unit, unit, weight);
  }
  return BlockCorrected(n, provisional, d, unit, weight, scratch);
}

template <class F>
__device__ __forceinline__ void RowPersistentBlock(const Arguments& a) {
  using C = typename F::Compute;
  using S = Squares<F>;
  using V = Vector<typename F::Element, F::kVector>;
  using Index = typename RowAddress<F>::Index;
  extern __shared__ uint4 dynamic_shared[];
  __shared__ BlockScratch<F::kThreads, S> scratch;

  const long long row = blockIdx.x;
  const RowAddress<F> address(a, row);
  const Index thread = threadIdx.x;
  const int count = thread < address.vectors
                        ? static_cast<int>((address.vectors - thread - 1) / F::kThreads) + 1
                        : 0;
  const auto at = [&](int slot) {
    return address.At(thread + static_cast<Index>(slot) * F::kThreads);
  };

  Held<F> held(dynamic_shared, count);
  held.LoadAll(a.x, at);

  C sum = C(0);
  held.Visit([&](int, const V& v) {
    C x[F::kVector];
    v.Unpack(x);
#pragma unroll
    for (int i = 0; i < F::kVector; ++i) sum += x[i];
  });
  const C n = static_cast<C>(a.reduced);
  const C provisional = BlockSum<F::kThreads>(sum, scratch.sums) / n;

  Deviations<S> d;
  held.Visit([&](int, const V& v) {
    C x[F::kVector];
    v.Unpack(x);
    d.Add(x, provisional, C(1), C(1));
  });
  Spread<S> spread = SpreadOf(BlockCorrected(n, provisional, d, C(1), C(1), scratch), C(1));
  const C unit = BetterUnit(spread, a.eps);
  if (F::Element::kWideRange && unit != C(1))
    spread = SpreadOf(RemeasuredRow<F, S>(a, at, count, unit, scratch), unit);
  const AffineMap<S> map = FinishChannel<F>(a, row, spread, threadIdx.x == 0);
  held.Consume([&](int slot, const V& v) { WriteVector<F>(a, at(slot), v, map); });
}

}  // namespace onepass_kernel
