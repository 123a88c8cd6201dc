// Column geometry: reduce down the rows of a matrix whose kInner columns are contiguous. A block
// works on a tile of kTileVectors vectors across and a chunk of rows down; thread t handles vector
// t % kTileVectors of rows t / kTileVectors + k * kRowStep. kTileVectors is a power of two, at
// most 32.
#pragma once

#include "norm.cuh"

namespace onepass_kernel {

template <class F>
struct ColumnTile {
  using Index = typename IndexType<F::kWideIndex>::Type;
  static constexpr Index kRowVectors = F::kInner / F::kVector;  // of a matrix row
  static constexpr int kColumns = F::kTileVectors * F::kVector;
  static constexpr int kRowStep = F::kThreads / F::kTileVectors;
  static constexpr long long kTiles = (F::kInner + kColumns - 1) / kColumns;

  long long tile;
  long long chunk;
  Index vector;     // in the matrix row
  Index row_begin;  // of the chunk
  Index row_count;  // of the chunk, may be 0
  bool inside;      // this thread's vector exists

  __device__ __forceinline__ ColumnTile(const Arguments& a, long long tile_, long long chunk_)
      : tile(tile_), chunk(chunk_) {
    vector = static_cast<Index>(tile) * F::kTileVectors + threadIdx.x % F::kTileVectors;
    inside = tile < kTiles && vector < kRowVectors;
    row_begin = RowsPerChunk(a) * static_cast<Index>(chunk);
    row_count = RowCount(a, chunk);
  }
  static __device__ __forceinline__ Index RowsPerChunk(const Arguments& a) {
    return static_cast<Index>((a.rows + a.split - 1) / a.split);
  }
  static __device__ __forceinline__ Index RowCount(const Arguments& a, long long chunk) {
    const long long size = RowsPerChunk(a);
    const long long left = a.rows - chunk * size;
    return static_cast<Index>(left <= 0 ? 0 : (left < size ? left : size));
  }
  // How many of the chunk's rows this thread handles.
  __device__ __forceinline__ int Steps() const {
    const Index first = threadIdx.x / F::kTileVectors;
    return inside && first < row_count ? static_cast<int>((row_count - first - 1) / kRowStep) + 1
                                       : 0;
  }
  __device__ __forceinline__ Index At(int step) const {
    const Index row =
        row_begin + threadIdx.x / F::kTileVectors + static_cast<Index>(step) * kRowStep;
    return row * kRowVectors + vector;
  }
};

// Sums of kCount columns a thread over the threads of a block that share them; every thread has the
// results. `scratch` holds kThreads / 32 times kTileVectors * kCount values.
template <class F, int kCount, class T>
__device__ __forceinline__ void ColumnSum(T (&values)[kCount], T* scratch) {
  constexpr int kWarps = F::kThreads / 32;
  constexpr int kColumns = F::kTileVectors * kCount;
  const int lane = threadIdx.x % F::kTileVectors;
#pragma unroll
  for (int i = 0; i < kCount; ++i) values[i] = WarpSum<F::kTileVectors>(values[i]);
  if constexpr (kWarps > 1) {
    if (threadIdx.x % 32 < F::kTileVectors) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        scratch[(threadIdx.x / 32) * kColumns + i * F::kTileVectors + lane] = values[i];
      }
    }
    __syncthreads();
    for (int column = threadIdx.x; column < kColumns; column += F::kThreads) {
      T sum = scratch[column];
#pragma unroll 4
      for (int warp = 1; warp < kWarps; ++warp) sum = Plus(sum, scratch[warp * kColumns + column]);
      scratch[column] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = scratch[i * F::kTileVectors + lane];
    __syncthreads();
  }
}

// What the reductions of a block need in shared memory, one after another.
template <class F, class S>
union ColumnScratch {
  using C = typename S::Compute;
  static constexpr int kValues = F::kThreads / 32 * ColumnTile<F>::kColumns;
  C sums[kValues];
  S squares[kValues];
  Moments<S> moments[F::kThreads];
};

// What a thread's columns are squared in, where nothing asks for another unit.
template <class C, int kVector>
struct Ones {
  C values[kVector];
  __device__ __forceinline__ Ones() {
#pragma unroll
    for (int i = 0; i < kVector; ++i) values[i] = C(1);
  }
};

// The moments of kCount of a thread's columns over the whole chunk, `rows` values each, from every
// thread's deviations.
template <class F, int kCount, class S, class C = typename S::Compute>
__device__ __forceinline__ void ColumnCorrected(C rows, const C (&provisional)[kCount],
                                                const Deviations<S> (&d)[kCount],
                                                const C (&unit)[kCount], C weight,
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
  for (int i = 0; i < kCount; ++i) {
    moments[i] =
        Corrected(rows, provisional[i], Deviations<S>{{sums[i]}, squares[i]}, unit[i], weight);
  }
}

// The spread of every column of a chunk, as it lies in the workspace: kColumns means, then the
// deviations' high values, then the low ones if there are any; the count is the chunk's row count.
template <class F, class S>
struct ColumnPartials {
  using C = typename S::Compute;
  static constexpr int kColumns = ColumnTile<F>::kColumns;
  static constexpr int kValues = 1 + static_cast<int>(sizeof(S) / sizeof(C));
  C* base;
  __device__ __forceinline__ C* Of(long long slot) const {
    return base + slot * kValues * kColumns;
  }
  __device__ __forceinline__ void Put(long long slot, int column, const Spread<S>& spread) const {
    C* part = Of(slot) + column;
    part[0] = spread.mean;
    part[kColumns] = spread.deviation.high;
    if constexpr (kValues == 3) part[2 * kColumns] = spread.deviation.low;
  }
  __device__ __forceinline__ Spread<S> Get(long long slot, int column, C count) const {
    const C* part = Of(slot) + column;
    Spread<S> spread = {count, part[0], {part[kColumns]}};
    if constexpr (kValues == 3) spread.deviation.low = part[2 * kColumns];
    return spread;
  }
};

// Measures again, from memory and a column after the other, those of a chunk whose squares
// overflowed or vanished in units of 1; `slot` is the chunk's.
template <class F, class S>
__device__ __forceinline__ void RemeasureColumns(const Arguments& a, const ColumnTile<F>& tile,
                                                 const ColumnPartials<F, S>& partials,
                                                 long long slot, ColumnScratch<F, S>& scratch) {
  using C = typename S::Compute;
  using One = Vector<typename F::Element, 1>;
  const C rows = static_cast<C>(tile.row_count);
#pragma unroll 1
  for (int i = 0; i < F::kVector; ++i) {
    const int column = i * F::kTileVectors + threadIdx.x % F::kTileVectors;
    const C unit = BetterUnit(partials.Get(slot, column, rows), a.eps);
    const C weight = unit < C(1) ? static_cast<C>(a.weight) : C(1);
    const auto value = [&](int step) {
      One element;
      C x[1];
      element.Load(a.x, static_cast<long long>(tile.At(step)) * F::kVector + i);
      element.Unpack(x);
      return x[0];
    };
    C centre[1] = {C(0)};
#pragma unroll 1
    for (int step = 0; step < tile.Steps(); ++step) centre[0] = fma(value(step), weight, centre[0]);
    ColumnSum<F>(centre, scratch.sums);
    centre[0] = tile.row_count == 0 ? C(0) : centre[0] / (rows * weight);
    Deviations<S> d[1];
#pragma unroll 1
    for (int step = 0; step < tile.Steps(); ++step)
      d[0].Add(value(step), centre[0] * unit, unit, weight);
    Moments<S> moments[1];
    ColumnCorrected<F>(rows, centre, d, {unit}, weight, scratch, moments);
    if (threadIdx.x < F::kTileVectors && unit != C(1))
      partials.Put(slot, column, SpreadOf(moments[0], unit));
  }
}

// Leaves the spreads of a thread's columns, measured in units of 1, in `slot` for the blocks that
// share the tile.
template <class F, class S>
__device__ __forceinline__ void PutColumns(const Arguments& a, const ColumnTile<F>& tile,
                                           const ColumnPartials<F, S>& partials, long long slot,
                                           const Moments<S> (&moments)[F::kVector],
                                           ColumnScratch<F, S>& scratch) {
  using C = typename S::Compute;
  bool redo = false;
#pragma unroll
  for (int i = 0; i < F::kVector; ++i) {
    const Spread<S> spread = SpreadOf(moments[i], C(1));
    redo |= BetterUnit(spread, a.eps) != C(1);
    if (threadIdx.x < F::kTileVectors)
      partials.Put(slot, i * F::kTileVectors + threadIdx.x, spread);
  }
  if (F::Element::kWideRange && __syncthreads_or(redo))
    RemeasureColumns<F>(a, tile, partials, slot, scratch);
}

// Merges the chunks of one tile; `slot` is the first chunk's. Leaves the map of every column in
// `maps` (kColumns of them, the column of vector v, element i at i * kTileVectors + v) and, where
// `record`, the channels' statistics.
template <class F, class S>
__device__ __forceinline__ void FinishColumns(const Arguments& a,
                                              const ColumnPartials<F, S>& partials, long long slot,
                                              long long tile, bool record,
                                              ColumnScratch<F, S>& scratch, AffineMap<S>* maps) {
  using Tile = ColumnTile<F>;
  using C = typename S::Compute;
  constexpr int kColumns = Tile::kColumns;
  constexpr int kGroups = F::kThreads / kColumns > 0 ? F::kThreads / kColumns : 1;
  const int group = threadIdx.x / kColumns;
  const int column = threadIdx.x % kColumns;
  const Spread<S> spread = InBestUnit<F, S>(a.eps, [&](C unit) {
    Moments<S> total = {};
    if (group < kGroups) {
      for (long long chunk = group; chunk < a.split; chunk += kGroups) {
        const C count = static_cast<C>(Tile::RowCount(a, chunk));
        total = Merge(total, MomentsOf(partials.Get(slot + chunk, column, count), unit), unit);
      }
      scratch.moments[threadIdx.x] = total;
    }
    __syncthreads();
    // All groups, so that they agree on the unit.
    total = scratch.moments[column];
#pragma unroll 1
    for (int other = 1; other < kGroups; ++other)
      total = Merge(total, scratch.moments[other * kColumns + column], unit);
    __syncthreads();
    return total;
  });
  if (group == 0) {
    const int v = column % F::kTileVectors;
    const int i = column / F::kTileVectors;
    const long long channel = (tile * F::kTileVectors + v) * F::kVector + i;
    if (channel < F::kInner) maps[column] = FinishChannel<F>(a, channel, spread, record);
  }
  __syncthreads();
}

}  // namespace onepass_kernel
