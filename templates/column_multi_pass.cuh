// Batch normalisation in training, Column geometry, in two launches: statistics, then apply.
// `split` blocks share a tile of columns, neighbouring blocks working on neighbouring tiles of the
// same rows. The second launch walks the blocks in reverse, for L2's sake, as in
// row_multi_pass.cuh.
//
// F as for column_persistent_grid.cuh, with kRegisterVectors as the vectors a thread loads at once.
// Grid: tiles * split. Workspace: the moments of every block.
#pragma once

#include "column.cuh"

namespace onepass_kernel {

// Running moments of kVector columns that all have the same count.
template <class C, int kVector>
struct ColumnMoments {
  C count = C(0);
  C mean[kVector] = {};
  C m2[kVector] = {};

  // Adds kRows values a column: their own moments first, then Chan's merge.
  template <int kRows>
  __device__ __forceinline__ void Add(const C (&x)[kRows][kVector]) {
    const C total = count + C(kRows);
    const C weight = C(kRows) / total;
    const C cross = count * weight;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      C sum = C(0);
#pragma unroll
      for (int r = 0; r < kRows; ++r) sum += x[r][i];
      const C provisional = sum / C(kRows);
      C sum_d = C(0);
      C sum_d2 = C(0);
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        const C d = x[r][i] - provisional;
        sum_d += d;
        sum_d2 = fma(d, d, sum_d2);
      }
      const Moments<C> rows = Corrected(C(kRows), provisional, sum_d, sum_d2);
      const C delta = rows.mean - mean[i];
      mean[i] = IsFinite(delta) ? fma(delta, weight, mean[i]) : mean[i] + rows.mean;
      m2[i] += fma(delta * delta, cross, rows.m2);
    }
    count = total;
  }
};

// Merges the moments of the threads of a block that share a column; the first kTileVectors threads
// have the result.
template <class F, class C>
__device__ __forceinline__ Moments<C> ColumnMerge(Moments<C> value, Moments<C>* scratch) {
  constexpr int kWarps = F::kThreads / 32;
  value = WarpMerge<F::kTileVectors>(value);
  if constexpr (kWarps > 1) {
    if (threadIdx.x % 32 < F::kTileVectors) {
      scratch[(threadIdx.x / 32) * F::kTileVectors + threadIdx.x % 32] = value;
    }
    __syncthreads();
    if (threadIdx.x < F::kTileVectors) {
      for (int warp = 1; warp < kWarps; ++warp) {
        value = Merge(value, scratch[warp * F::kTileVectors + threadIdx.x]);
      }
    }
    __syncthreads();
  }
  return value;
}

template <class F>
__device__ __forceinline__ void ColumnStatistics(const Arguments& a) {
  using C = typename F::Compute;
  using V = Vector<typename F::Element, F::kVector>;
  using Tile = ColumnTile<F>;
  constexpr int kBatch = F::kRegisterVectors;
  __shared__ Moments<C> scratch[F::kThreads / 32 * F::kTileVectors];

  const Tile tile(a, blockIdx.x % Tile::kTiles, blockIdx.x / Tile::kTiles);
  const int steps = tile.Steps();
  ColumnMoments<C, F::kVector> moments;
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
  const ColumnPartials<F, C> partials = {Scratch<C>(a)};
  C* part = partials.Of(tile.tile * a.split + tile.chunk);
#pragma unroll
  for (int i = 0; i < F::kVector; ++i) {
    const Moments<C> merged =
        ColumnMerge<F>(Moments<C>{moments.count, moments.mean[i], moments.m2[i]}, scratch);
    if (threadIdx.x < F::kTileVectors) {
      part[i * F::kTileVectors + threadIdx.x] = merged.mean;
      part[Tile::kColumns + i * F::kTileVectors + threadIdx.x] = merged.m2;
    }
  }
}

template <class F>
__device__ __forceinline__ void ColumnApply(const Arguments& a) {
  using C = typename F::Compute;
  using V = Vector<typename F::Element, F::kVector>;
  using Tile = ColumnTile<F>;
  constexpr int kBatch = F::kRegisterVectors;
  __shared__ Moments<C> scratch[F::kThreads];
  __shared__ AffineMap<C> maps[Tile::kColumns];

  const long long block = gridDim.x - 1 - blockIdx.x;
  const Tile tile(a, block % Tile::kTiles, block / Tile::kTiles);
  const ColumnPartials<F, C> partials = {Scratch<C>(a)};
  FinishColumns<F, C>(a, partials, tile.tile * a.split, tile.tile, tile.chunk == 0, scratch, maps);
  AffineMap<C> map[F::kVector];
#pragma unroll
  for (int i = 0; i < F::kVector; ++i)
    map[i] = maps[i * F::kTileVectors + threadIdx.x % F::kTileVectors];

  const int steps = tile.Steps();
  int step = 0;
  for (; step + kBatch <= steps; step += kBatch) {
    V batch[kBatch];
#pragma unroll
    for (int r = 0; r < kBatch; ++r) batch[r].LoadStreaming(a.x, tile.At(step + r));
#pragma unroll
    for (int r = 0; r < kBatch; ++r) WriteColumns<F, C>(a, tile.At(step + r), batch[r], map);
  }
  for (; step < steps; ++step) {
    V one;
    one.LoadStreaming(a.x, tile.At(step));
    WriteColumns<F, C>(a, tile.At(step), one, map);
  }
}

}  // namespace onepass_kernel
