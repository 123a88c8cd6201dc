// Batch normalisation in training, Column geometry, in two launches: statistics, then apply.
// `split` blocks share a tile of columns, neighbouring blocks working on neighbouring tiles of the
// same rows. The second launch walks blocks and rows in reverse, for L2's sake, as in
// row_multi_pass.cuh.
//
// F as for column_persistent_grid.cuh, with kRegisterVectors as the vectors a thread loads at once.
// Grid: tiles * split. Workspace: the spreads of every block, unless TakesSaved.
#pragma once

#include "column.cuh"

namespace onepass_kernel {

// Running moments of kVector columns that all have the same count.
template <class S, int kVector>
struct ColumnMoments {
  using C = typename S::Compute;
  C count = C(0);
  C mean[kVector] = {};
  S m2[kVector] = {};

  // Adds kRows values a column: their own moments first, then Chan's merge.
  template <int kRows>
  __device__ __forceinline__ void Add(const C (&x)[kRows][kVector]) {
    const C total = count + C(kRows);
    const C share = C(kRows) / total;
    const C cross = count * share;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      C sum = C(0);
#pragma unroll
      for (int r = 0; r < kRows; ++r) sum += x[r][i];
      const C provisional = sum / C(kRows);
      Deviations<S> d;
#pragma unroll
      for (int r = 0; r < kRows; ++r) d.Add(x[r][i], provisional, C(1), C(1));
      const Moments<S> rows = Corrected(C(kRows), provisional, d, C(1), C(1));
      const C delta = count == C(0) ? C(0) : rows.mean - mean[i];
      mean[i] = MergedMean(mean[i], count / total, rows.mean, share);
      m2[i] = Plus(Plus(m2[i], rows.m2), delta * delta * cross);
    }
    count = total;
  }
};

// The moments of one thread's rows of a chunk.
template <class F, class S>
__device__ __forceinline__ ColumnMoments<S, F::kVector> OwnMoments(const Arguments& a,
                                                                   const ColumnTile<F>& tile) {
  using C = typename S::Compute;
  using V = Vector<typename F::Element, F::kVector>;
  constexpr int kBatch = F::kRegisterVectors;
  const int steps = tile.Steps();
  ColumnMoments<S, F::kVector> moments;
  int step = 0;
  for (; step + kBatch <= steps; step += kBatch) {
    V batch[kBatch];
    C x[kBatch][F::kVector];
#pragma unroll
    for (int r = 0; r < kBatch; ++r) batch[r].Load(a.x, tile.At(step + r));
#pragma unroll
    for (int r = 0; r < kBatch; ++r) batch[r].Unpack(x[r]);
    moments.Add(x);
  }
  for (; step < steps; ++step) {
    V one;
    C x[1][F::kVector];
    one.Load(a.x, tile.At(step));
    one.Unpack(x[0]);
    moments.Add(x);
  }
  return moments;
}

// The moments of a thread's columns over the whole chunk, `rows` values each.
template <class F, class S, class C = typename S::Compute>
__device__ __forceinline__ void ColumnMerge(C rows, const ColumnMoments<S, F::kVector>& own,
                                            ColumnScratch<F, S>& scratch,
                                            Moments<S> (&moments)[F::kVector]) {
  C provisional[F::kVector];
#pragma unroll
  for (int i = 0; i < F::kVector; ++i) provisional[i] = own.mean[i] * own.count;
  ColumnSum<F>(provisional, scratch.sums);
  Deviations<S> d[F::kVector];
#pragma unroll
  for (int i = 0; i < F::kVector; ++i) {
    provisional[i] = rows == C(0) ? C(0) : provisional[i] / rows;
    d[i].AddSet(Moments<S>{own.count, own.mean[i], own.m2[i]}, provisional[i], C(1), C(1));
  }
  const Ones<C, F::kVector> ones;
  ColumnCorrected<F>(rows, provisional, d, ones.values, C(1), scratch, moments);
}

template <class F>
__device__ __forceinline__ void ColumnStatistics(const Arguments& a) {
  using C = typename F::Compute;
  using S = Squares<F>;
  using Tile = ColumnTile<F>;
  __shared__ ColumnScratch<F, S> scratch;
  __shared__ AffineMap<S> maps[Tile::kColumns];
  __shared__ C own_partials[ColumnPartials<F, S>::kValues * Tile::kColumns];

  const Tile tile(a, blockIdx.x % Tile::kTiles, blockIdx.x / Tile::kTiles);
  Moments<S> moments[F::kVector];
  ColumnMerge<F>(static_cast<C>(tile.row_count), OwnMoments<F, S>(a, tile), scratch, moments);
  if (TakesSaved(a)) {
    const ColumnPartials<F, S> own = {own_partials};
    PutColumns<F>(a, tile, own, 0, moments, scratch);
    __syncthreads();
    FinishColumns<F>(a, own, 0, tile.tile, /*record=*/true, scratch, maps);
  } else {
    const ColumnPartials<F, S> partials = {Scratch<C>(a)};
    PutColumns<F>(a, tile, partials, tile.tile * a.split + tile.chunk, moments, scratch);
  }
}

template <class F>
__device__ __forceinline__ void ColumnApply(const Arguments& a) {
  using C = typename F::Compute;
  using V = Vector<typename F::Element, F::kVector>;
  using Tile = ColumnTile<F>;
  constexpr int kBatch = F::kRegisterVectors;
  using S = Squares<F>;
  __shared__ ColumnScratch<F, S> scratch;
  __shared__ AffineMap<S> maps[Tile::kColumns];

  const long long block = gridDim.x - 1 - blockIdx.x;
  const Tile tile(a, block % Tile::kTiles, block / Tile::kTiles);
  AffineMap<S> map[F::kVector];
  if (TakesSaved(a)) {
#pragma unroll
    for (int i = 0; i < F::kVector; ++i)
      if (tile.inside)
        map[i] = SavedMap<F>(a, static_cast<long long>(tile.vector) * F::kVector + i);
  } else {
    const ColumnPartials<F, S> partials = {Scratch<C>(a)};
    FinishColumns<F>(a, partials, tile.tile * a.split, tile.tile, tile.chunk == 0, scratch, maps);
#pragma unroll
    for (int i = 0; i < F::kVector; ++i)
      map[i] = maps[i * F::kTileVectors + threadIdx.x % F::kTileVectors];
  }

  int left = tile.Steps();
  while (left % kBatch != 0) {
    --left;
    V one;
    one.LoadStreaming(a.x, tile.At(left));
    WriteColumns<F, C>(a, tile.At(left), one, map);
  }
  while (left > 0) {
    left -= kBatch;
    V batch[kBatch];
#pragma unroll
    for (int r = 0; r < kBatch; ++r) batch[r].LoadStreaming(a.x, tile.At(left + r));
#pragma unroll
    for (int r = 0; r < kBatch; ++r) WriteColumns<F, C>(a, tile.At(left + r), batch[r], map);
  }
}

}  // namespace onepass_kernel
