// The spreads of a tile's columns: from the deviations of one chunk, over the workspace, to the
// maps of all chunks together.
#pragma once

#include "column_tile.cuh"
#include "norm.cuh"

namespace onepass_kernel {

// What the reductions of a block need in shared memory, one after another.
template <class F, class S>
union ColumnScratch {
  using C = typename S::Compute;
  static constexpr int kValues = F::kThreads / 32 * ColumnTile<F>::kColumns;
  C sums[kValues];
  S squares[kValues];
  Moments<S> moments[F::kThreads];
};

// The moments of kCount of a thread's columns over the whole chunk, from every thread's deviations.
template <class F, int kCount, class S, class C = typename S::Compute>
__device__ __forceinline__ void ColumnCorrected(const Provisional<C> (&about)[kCount],
                                                const Deviations<S> (&d)[kCount],
                                                ColumnScratch<F, S>& scratch,
                                                Moments<S> (&moments)[kCount]) {
  C sums[kCount];
  S squares[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) {
    sums[i] = Rounded(d[i].sum);
    squares[i] = d[i].squares;
  }
  ColumnSum<F>(sums, scratch.sums);
  ColumnSum<F>(squares, scratch.squares);
#pragma unroll
  for (int i = 0; i < kCount; ++i)
    moments[i] = Corrected(about[i], Deviations<S>{{sums[i]}, squares[i]});
}

// The spread of every column of a chunk, as it lies in the workspace: kColumns means, then the
// deviations' high values, then the low ones if there are any; the count is the chunk's row count.
// The chunks of a tile follow one another.
template <class F, class S>
struct ColumnSpreads {
  using C = typename S::Compute;
  static constexpr int kColumns = ColumnTile<F>::kColumns;
  static constexpr int kValues = 1 + static_cast<int>(sizeof(S) / sizeof(C));
  C* base;
  __device__ __forceinline__ ColumnSpreads After(long long chunks) const {
    return {base + chunks * kValues * kColumns};
  }
  __device__ __forceinline__ void Put(int column, const Spread<S>& spread) const {
    C* part = base + column;
    part[0] = spread.mean;
    part[kColumns] = spread.deviation.high;
    if constexpr (kValues == 3) part[2 * kColumns] = spread.deviation.low;
  }
  __device__ __forceinline__ Spread<S> Get(int column, C count) const {
    const C* part = base + column;
    Spread<S> spread = {count, part[0], {part[kColumns]}};
    if constexpr (kValues == 3) spread.deviation.low = part[2 * kColumns];
    return spread;
  }
};

// Measures again, from memory and a column after the other, those of a chunk whose squares
// overflowed or vanished in units of 1.
template <class F, class S>
__device__ __forceinline__ void RemeasureColumns(const ColumnTile<F>& tile,
                                                 const ColumnSpreads<F, S>& spreads,
                                                 ColumnScratch<F, S>& scratch) {
  using C = typename S::Compute;
  using One = Vector<typename F::Element, 1>;
  const C rows = static_cast<C>(tile.row_count);
#pragma unroll 1
  for (int i = 0; i < F::kVector; ++i) {
    const int column = i * F::kTileVectors + threadIdx.x % F::kTileVectors;
    const C unit = BetterUnit(spreads.Get(column, rows), tile.a.eps);
    const auto scale = Scale<C>::Of(unit, tile.a.weight);
    const auto value = [&](int step) {
      One element;
      C x[1];
      element.Load(tile.a.x, static_cast<long long>(tile.At(step)) * F::kVector + i);
      element.Unpack(x);
      return x[0];
    };
    C sum[1] = {C(0)};
#pragma unroll 1
    for (int step = 0; step < tile.Steps(); ++step) sum[0] = fma(value(step), scale.weight, sum[0]);
    ColumnSum<F>(sum, scratch.sums);
    const C mean = tile.row_count == 0 ? C(0) : sum[0] / (rows * scale.weight);
    const Provisional<C> about[1] = {{rows, mean, scale}};
    Deviations<S> d[1];
#pragma unroll 1
    for (int step = 0; step < tile.Steps(); ++step) d[0].Add(value(step), about[0]);
    Moments<S> moments[1];
    ColumnCorrected<F>(about, d, scratch, moments);
    if (threadIdx.x < F::kTileVectors && unit != C(1))
      spreads.Put(column, SpreadOf(moments[0], unit));
  }
}

// Leaves the spreads of a chunk's columns, measured in units of 1, for the blocks that share the
// tile.
template <class F, class S>
__device__ __forceinline__ void PutColumns(const ColumnTile<F>& tile,
                                           const Moments<S> (&moments)[F::kVector],
                                           const ColumnSpreads<F, S>& spreads,
                                           ColumnScratch<F, S>& scratch) {
  using C = typename S::Compute;
  bool redo = false;
  if (threadIdx.x < F::kTileVectors) {
#pragma unroll
    for (int i = 0; i < F::kVector; ++i) {
      const Spread<S> spread = SpreadOf(moments[i], C(1));
      redo |= BetterUnit(spread, tile.a.eps) != C(1);
      spreads.Put(i * F::kTileVectors + threadIdx.x, spread);
    }
  }
  if (F::Element::kWideRange && __syncthreads_or(redo)) RemeasureColumns<F>(tile, spreads, scratch);
}

// Merges the chunks of a tile; `spreads` are the first chunk's. Leaves the map of every column in
// `maps` (kColumns of them, the column of vector v, element i at i * kTileVectors + v). The first
// chunk's block records the channels' statistics.
template <class F, class S>
__device__ __forceinline__ void FinishColumns(const ColumnTile<F>& tile,
                                              const ColumnSpreads<F, S>& spreads,
                                              ColumnScratch<F, S>& scratch, AffineMap<S>* maps) {
  using Tile = ColumnTile<F>;
  using C = typename S::Compute;
  constexpr int kColumns = Tile::kColumns;
  constexpr int kGroups = F::kThreads / kColumns > 0 ? F::kThreads / kColumns : 1;
  const int group = threadIdx.x / kColumns;
  const int column = threadIdx.x % kColumns;
  const Spread<S> spread = InBestUnit<F, S>(tile.a, [&](Scale<C> scale) {
    Moments<S> total = {};
    if (group < kGroups) {
      for (long long chunk = group; chunk < tile.a.split; chunk += kGroups) {
        const C count = static_cast<C>(tile.RowCount(chunk));
        const Spread<S> part = spreads.After(chunk).Get(column, count);
        total = Merge(total, MomentsOf(part, scale.unit), scale.unit);
      }
      scratch.moments[threadIdx.x] = total;
    }
    __syncthreads();
    // All groups, so that they agree on the unit.
    total = scratch.moments[column];
#pragma unroll 1
    for (int other = 1; other < kGroups; ++other)
      total = Merge(total, scratch.moments[other * kColumns + column], scale.unit);
    __syncthreads();
    return total;
  });
  if (group == 0) {
    const int v = column % F::kTileVectors;
    const int i = column / F::kTileVectors;
    const long long channel = (tile.tile * Tile::kWidth + v) * F::kVector + i;
    if (v < Tile::kWidth && channel < F::kInner)
      maps[column] =
          MapOf<F>(tile.a, channel, FinishRegion<F>(tile.a, channel, spread, tile.chunk == 0));
  }
  __syncthreads();
}

}  // namespace onepass_kernel
