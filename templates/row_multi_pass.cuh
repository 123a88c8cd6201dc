// Normalisation by the moments of x, Row geometry, in two launches: statistics, then apply. `split`
// blocks share a row; each leaves its spread in the workspace. The second launch walks the blocks,
// and each block its part, in reverse, so that it begins with what L2 still holds, and marks what
// it touches with 16-byte accesses as evict-first, so that nothing pushes out what it has yet to
// read.
//
// F as for row_persistent_block.cuh, with kRegisterVectors as the vectors a thread loads at once.
// Grid: rows * split. Workspace: the spreads of every block, unless `takes_saved`.
#pragma once

#include "row_maps.cuh"

namespace onepass_kernel {

// The share of a row that one block works on, in vectors.
template <class F>
struct RowPart {
  using Index = typename RowAddress<F>::Index;
  long long row;
  long long part;
  Index begin;
  Index end;
  Index size;

  __device__ __forceinline__ RowPart(const Arguments& a, const RowAddress<F>& address,
                                     long long row_, long long part_)
      : row(row_), part(part_) {
    // Whole cache lines: one that two blocks share would be evicted between them.
    constexpr Index kLine = 128 / Vector<typename F::Element, F::kVector>::kBytes;
    size =
        static_cast<Index>((address.vectors + a.split - 1) / a.split + kLine - 1) / kLine * kLine;
    begin = static_cast<Index>(part) * size;
    if (begin > address.vectors) begin = address.vectors;
    end = address.vectors - begin < size ? address.vectors : begin + size;
  }
};

// Moments of kCount resident values, then merged into `total`.
template <class F, class S, class C, int kCount>
__device__ __forceinline__ void Accumulate(Moments<S>& total, const C (&x)[kCount], C unit) {
  const auto scale = Scale<C>::Of(unit, WeightOf<C>(kCount));
  C sum = C(0);
#pragma unroll
  for (int i = 0; i < kCount; ++i) sum = fma(x[i], scale.weight, sum);
  const Provisional<C> about = ProvisionalOf<F>(C(kCount), sum, scale);
  Deviations<S> d;
  d.Add(x, about);
  total = Merge(total, Corrected(about, d), unit);
}

// The moments of one thread's share of a part.
template <class F, class S, class C>
__device__ __forceinline__ Moments<S> OwnMoments(const Arguments& a, const RowAddress<F>& address,
                                                 const RowPart<F>& part, C unit) {
  using V = Vector<typename F::Element, F::kVector>;
  using Index = typename RowAddress<F>::Index;
  constexpr int kBatch = F::kRegisterVectors;
  Moments<S> total = {};
  Index v = part.begin + threadIdx.x;
  while (v < part.end && part.end - v > (kBatch - 1) * F::kThreads) {
    V batch[kBatch];
    C x[kBatch * F::kVector];
#pragma unroll
    for (int i = 0; i < kBatch; ++i) batch[i].Load(a.x, address.At(v + i * F::kThreads));
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      C values[F::kVector];
      batch[i].Unpack(values);
#pragma unroll
      for (int j = 0; j < F::kVector; ++j) x[i * F::kVector + j] = values[j];
    }
    Accumulate<F>(total, x, unit);
    v += kBatch * F::kThreads;
  }
  for (; v < part.end; v += F::kThreads) {
    V one;
    C x[F::kVector];
    one.Load(a.x, address.At(v));
    one.Unpack(x);
    Accumulate<F>(total, x, unit);
  }
  return total;
}

template <class F>
__device__ __forceinline__ void RowStatistics(const Arguments& a) {
  using C = typename F::Compute;
  using S = Squares<F>;
  __shared__ BlockScratch<F::kThreads, S> scratch;

  const long long row = blockIdx.x / a.split;
  const RowAddress<F> address(a, row);
  const RowPart<F> part(a, address, row, blockIdx.x - row * a.split);
  const C count = static_cast<C>(part.end - part.begin) * C(F::kVector);
  const Spread<S> spread = InBestUnit<F, S>(a, [&](Scale<C> scale) {
    return BlockMerge(OwnMoments<F, S>(a, address, part, scale.unit), count, scale, scratch);
  });
  if (threadIdx.x != 0) return;
  if (a.takes_saved) {
    FinishRegion<F>(a, row, spread, /*record=*/true);
  } else {
    Scratch<Spread<S>>(a)[blockIdx.x] = spread;
  }
}

// The spread of a row from those of its parts, in every thread.
template <class F, class S>
__device__ __forceinline__ Spread<S> CombineParts(const Arguments& a, long long row,
                                                  BlockScratch<F::kThreads, S>& scratch) {
  using C = typename F::Compute;
  const Spread<S>* parts = Scratch<Spread<S>>(a) + row * a.split;
  if (a.split == 1) return parts[0];
  const C count = static_cast<C>(a.reduced);
  return InBestUnit<F, S>(a, [&](Scale<C> scale) {
    Moments<S> total = {};
    for (long long i = threadIdx.x; i < a.split; i += F::kThreads)
      total = Merge(total, MomentsOf(parts[i], scale.unit), scale.unit);
    return BlockMerge(total, count, scale, scratch);
  });
}

template <class F>
__device__ __forceinline__ void RowApply(const Arguments& a) {
  using S = Squares<F>;
  using V = Vector<typename F::Element, F::kVector>;
  using Index = typename RowAddress<F>::Index;
  constexpr int kBatch = F::kRegisterVectors;
  __shared__ BlockScratch<F::kThreads, S> scratch;

  const long long block = gridDim.x - 1 - blockIdx.x;
  const long long row = block / a.split;
  const RowAddress<F> address(a, row);
  const RowPart<F> part(a, address, row, block - row * a.split);
  const RowMaps<F> maps(a, row,
                        a.takes_saved ? SavedRegion<F>(a, row)
                                      : FinishRegion<F>(a, row, CombineParts<F>(a, row, scratch),
                                                        part.part == 0 && threadIdx.x == 0));

  const Index first = part.begin + threadIdx.x;
  Index left = first < part.end ? (part.end - first - 1) / F::kThreads + 1 : 0;
  while (left % kBatch != 0) {
    --left;
    const Index v = first + left * F::kThreads;
    V one;
    one.LoadStreaming(a.x, address.At(v));
    maps.Write(v, address.At(v), one);
  }
  while (left > 0) {
    left -= kBatch;
    V batch[kBatch];
#pragma unroll
    for (int i = 0; i < kBatch; ++i)
      batch[i].LoadStreaming(a.x, address.At(first + (left + i) * F::kThreads));
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const Index v = first + (left + i) * F::kThreads;
      maps.Write(v, address.At(v), batch[i]);
    }
  }
}

}  // namespace onepass_kernel
