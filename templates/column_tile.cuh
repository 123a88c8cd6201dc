// Column geometry: reduce down the rows of a matrix whose kInner columns are contiguous. A block
// works on a tile of kTileVectors vectors across and a chunk of rows down; thread t handles vector
// t % kTileVectors of rows t / kTileVectors + k * kRowStep. kTileVectors is a power of two, at
// most 32; a tile of a ragged matrix may use fewer.
#pragma once

#include "arguments.cuh"
#include "moments.cuh"
#include "storage.cuh"

namespace onepass_kernel {

template <class F>
struct ColumnTile {
  using Index = typename IndexType<F::kWideIndex>::Type;
  static constexpr Index kRowVectors = F::kInner / F::kVector;  // of a matrix row
  static constexpr int kColumns = F::kTileVectors * F::kVector;
  static constexpr int kRowStep = F::kThreads / F::kTileVectors;
  static constexpr long long kTiles = (F::kInner + kColumns - 1) / kColumns;

  // Vectors that a tile has. Tiles that share a sector of every row should be equally fast, so that
  // they ask for it at about the same time.
  static constexpr bool kWholeSectors = F::kInner * sizeof(typename F::Element::Raw) % 32 == 0;
  static constexpr int kWidth =
      kWholeSectors ? F::kTileVectors : static_cast<int>((kRowVectors + kTiles - 1) / kTiles);

  const Arguments& a;
  long long tile;
  long long chunk;
  Index vector;     // in the matrix row
  Index row_begin;  // of the chunk
  Index row_count;  // of the chunk, may be 0
  bool inside;      // this thread's vector exists

  __device__ __forceinline__ ColumnTile(const Arguments& arguments, long long tile_,
                                        long long chunk_)
      : a(arguments), tile(tile_), chunk(chunk_) {
    const int lane = threadIdx.x % F::kTileVectors;
    vector = static_cast<Index>(tile) * kWidth + lane;
    inside = lane < kWidth && tile < kTiles && vector < kRowVectors;
    row_begin = RowsPerChunk() * static_cast<Index>(chunk);
    row_count = RowCount(chunk);
  }
  __device__ __forceinline__ Index RowsPerChunk() const {
    return static_cast<Index>((a.rows + a.split - 1) / a.split);
  }
  __device__ __forceinline__ Index RowCount(long long any_chunk) const {
    const long long size = RowsPerChunk();
    const long long left = a.rows - any_chunk * size;
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
  constexpr int kUnroll = sizeof(T) > 8 ? 1 : 4;  // pairs of doubles would spill
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
#pragma unroll kUnroll
      for (int warp = 1; warp < kWarps; ++warp) sum = Plus(sum, scratch[warp * kColumns + column]);
      scratch[column] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = scratch[i * F::kTileVectors + lane];
    __syncthreads();
  }
}

}  // namespace onepass_kernel
