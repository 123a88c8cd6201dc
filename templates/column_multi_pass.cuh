// Batch normalisation in training, Column geometry, in two launches: statistics, then apply.
// `split` blocks share a tile of columns, neighbouring blocks working on neighbouring tiles of the
// same rows. The second launch walks blocks and rows in reverse, for L2's sake, as in
// row_multi_pass.cuh.
//
// F as for column_persistent_grid.cuh, with kRegisterVectors as the vectors a thread loads at once.
// Grid: tiles * split. Workspace: the spreads of every block, unless `takes_saved`.
#pragma once

#include "column_spreads.cuh"

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
      const Provisional<C> about = {C(kRows), sum / C(kRows)};
      Deviations<S> d;
#pragma unroll
      for (int r = 0; r < kRows; ++r) d.Add(x[r][i], about);
      const Moments<S> rows = Corrected(about, d);
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
  C sums[F::kVector];
#pragma unroll
  for (int i = 0; i < F::kVector; ++i) sums[i] = own.mean[i] * own.count;
  ColumnSum<F>(sums, scratch.sums);
  Provisional<C> about[F::kVector];
  Deviations<S> d[F::kVector];
#pragma unroll
  for (int i = 0; i < F::kVector; ++i) {
    about[i] = {rows, rows == C(0) ? C(0) : sums[i] / rows};
    d[i].AddSet(Moments<S>{own.count, own.mean[i], own.m2[i]}, about[i]);
  }
  ColumnCorrected<F>(about, d, scratch, moments);
}

template <class F>
__device__ __forceinline__ void ColumnStatistics(const Arguments& a) {
  using C = typename F::Compute;
  using S = Squares<F>;
  using Tile = ColumnTile<F>;
  __shared__ ColumnScratch<F, S> scratch;
  __shared__ AffineMap<S> maps[Tile::kColumns];
  __shared__ C own_spreads[ColumnSpreads<F, S>::kValues * Tile::kColumns];

  const Tile tile(a, blockIdx.x % Tile::kTiles, blockIdx.x / Tile::kTiles);
  Moments<S> moments[F::kVector];
  ColumnMerge<F>(static_cast<C>(tile.row_count), OwnMoments<F, S>(a, tile), scratch, moments);
  if (a.takes_saved) {
    const ColumnSpreads<F, S> own = {own_spreads};
    PutColumns<F>(tile, moments, own, scratch);
    __syncthreads();
    FinishColumns<F>(tile, own, scratch, maps);
  } else {
    const ColumnSpreads<F, S> all = {Scratch<C>(a)};
    PutColumns<F>(tile, moments, all.After(tile.tile * a.split + tile.chunk), scratch);
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
  if (a.takes_saved) {
#pragma unroll
    for (int i = 0; i < F::kVector; ++i) {
      const long long channel = static_cast<long long>(tile.vector) * F::kVector + i;
      if (tile.inside) map[i] = MapOf<F>(a, channel, SavedRegion<F>(a, channel));
    }
  } else {
    const ColumnSpreads<F, S> all = {Scratch<C>(a)};
    FinishColumns<F>(tile, all.After(tile.tile * a.split), scratch, maps);
#pragma unroll
    for (int i = 0; i < F::kVector; ++i)
      map[i] = maps[i * F::kTileVectors + threadIdx.x % F::kTileVectors];
  }

  int left = tile.Steps();
  while (left % kBatch != 0) {
    --left;
    V one;
    one.LoadStreaming(a.x, tile.At(left));
    WriteVector<F>(a, tile.At(left), one, map);
  }
  while (left > 0) {
    left -= kBatch;
    V batch[kBatch];
#pragma unroll
    for (int r = 0; r < kBatch; ++r) batch[r].LoadStreaming(a.x, tile.At(left + r));
#pragma unroll
    for (int r = 0; r < kBatch; ++r) WriteVector<F>(a, tile.At(left + r), batch[r], map);
  }
}

}  // namespace onepass_kernel
