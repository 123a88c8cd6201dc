// Addresses of a Row problem: a row is `segments` runs of kInner contiguous elements,
// `segment_stride` apart; rows are `row_stride` apart. Counted in vectors.
#pragma once

#include "arguments.cuh"
#include "storage.cuh"

namespace onepass_kernel {

template <class F>
struct RowAddress {
  using Index = typename IndexType<F::kWideIndex>::Type;
  static constexpr Index kSegmentVectors = F::kInner / F::kVector;
  Index base;
  Index stride;
  Index vectors;  // of the row

  __device__ __forceinline__ RowAddress(const Arguments& a, long long row)
      : base(static_cast<Index>(row) * static_cast<Index>(a.row_stride / F::kVector)),
        stride(static_cast<Index>(a.segment_stride / F::kVector)),
        vectors(static_cast<Index>(a.segments) * kSegmentVectors) {}

  __device__ __forceinline__ Index At(Index v) const {
    const Index segment = v / kSegmentVectors;
    return base + segment * stride + (v - segment * kSegmentVectors);
  }
};

// The vectors of a row that one thread of a block handles: every kThreads-th.
template <class F>
struct OwnVectors {
  using Index = typename RowAddress<F>::Index;
  RowAddress<F> row;
  int count;

  __device__ __forceinline__ explicit OwnVectors(const RowAddress<F>& row_)
      : row(row_),
        count(threadIdx.x < row_.vectors
                  ? static_cast<int>((row_.vectors - threadIdx.x - 1) / F::kThreads) + 1
                  : 0) {}
  // The number of the i-th in the row, and where it lies.
  __device__ __forceinline__ Index Number(int i) const {
    return threadIdx.x + static_cast<Index>(i) * F::kThreads;
  }
  __device__ __forceinline__ Index At(int i) const { return row.At(Number(i)); }
};

}  // namespace onepass_kernel
