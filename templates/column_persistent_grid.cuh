// Batch normalisation in training, Column geometry, in channel slabs: a slab of columns times all
// rows lies in the registers and shared memory of all co-resident blocks at once. `split` blocks
// share a tile of columns; they exchange their spreads through the workspace behind a barrier of
// their own. x is read once, and twice more by the rare column whose squares leave the arithmetic
// type's range.
//
// F as for row_persistent_block.cuh, with kTileVectors. Grid: tiles of a slab times split, all
// co-resident (cooperative launch) where split > 1. Workspace: two words a tile of a slab, then two
// parities of spreads a block.
#pragma once

#include "column_spreads.cuh"
#include "held.cuh"

namespace onepass_kernel {

// A barrier among `members` blocks over two words, zero before and after the launch. `arrived`
// grows to members * rounds; the last block to leave clears both.
struct BlockGroupBarrier {
  unsigned int* words;
  unsigned int members;

  __device__ __forceinline__ void ArriveAndWait(unsigned int round) const {
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned int seen;
      asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;"
                   : "=r"(seen)
                   : "l"(words)
                   : "memory");
      ++seen;
      while (seen < members * (round + 1)) {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(words) : "memory");
      }
    }
    __syncthreads();
  }
  __device__ __forceinline__ void Leave() const {
    if (threadIdx.x == 0) {
      unsigned int left;
      asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;"
                   : "=r"(left)
                   : "l"(words + 1)
                   : "memory");
      if (left == members - 1) {
        words[0] = 0;
        words[1] = 0;
      }
    }
  }
};

// The moments of a thread's columns over the whole chunk, from what the block holds of it.
template <class F, class S>
__device__ __forceinline__ void HeldMoments(const Held<F>& held, const ColumnTile<F>& tile,
                                            ColumnScratch<F, S>& scratch,
                                            Moments<S> (&moments)[F::kVector]) {
  using C = typename S::Compute;
  using V = Vector<typename F::Element, F::kVector>;
  const C rows = static_cast<C>(tile.row_count);
  C sums[F::kVector] = {};
  held.Visit([&](int, const V& v) {
    C x[F::kVector];
    v.Unpack(x);
#pragma unroll
    for (int i = 0; i < F::kVector; ++i) sums[i] += x[i];
  });
  ColumnSum<F>(sums, scratch.sums);
  Provisional<C> about[F::kVector];
#pragma unroll
  for (int i = 0; i < F::kVector; ++i)
    about[i] = {rows, tile.row_count == 0 ? C(0) : sums[i] / rows};

  Deviations<S> d[F::kVector];
  held.Visit([&](int, const V& v) {
    C x[F::kVector];
    v.Unpack(x);
#pragma unroll
    for (int i = 0; i < F::kVector; ++i) d[i].Add(x[i], about[i]);
  });
  ColumnCorrected<F>(about, d, scratch, moments);
}

template <class F>
__device__ __forceinline__ void ColumnPersistentGrid(const Arguments& a) {
  using C = typename F::Compute;
  using V = Vector<typename F::Element, F::kVector>;
  using Tile = ColumnTile<F>;
  using S = Squares<F>;
  using Spreads = ColumnSpreads<F, S>;
  extern __shared__ uint4 dynamic_shared[];
  __shared__ ColumnScratch<F, S> scratch;
  __shared__ AffineMap<S> maps[Tile::kColumns];
  __shared__ C own_spreads[Spreads::kValues * Tile::kColumns];

  const long long tiles_in_slab = gridDim.x / a.split;
  const long long chunk = blockIdx.x / tiles_in_slab;
  const long long tile_in_slab = blockIdx.x % tiles_in_slab;
  const BlockGroupBarrier barrier = {static_cast<unsigned int*>(a.workspace) + 2 * tile_in_slab,
                                     static_cast<unsigned int>(a.split)};
  // A block that has its tile to itself keeps the spreads where nobody else looks.
  const Spreads all = {a.split == 1 ? own_spreads : Scratch<C>(a)};

  unsigned int round = 0;
  for (long long slab_tile = 0; slab_tile < Tile::kTiles; slab_tile += tiles_in_slab, ++round) {
    const Tile tile(a, slab_tile + tile_in_slab, chunk);
    const auto at = [&](int step) { return tile.At(step); };
    Held<F> held(dynamic_shared, tile.Steps());
    held.LoadAll(a.x, at);

    Moments<S> moments[F::kVector];
    HeldMoments<F>(held, tile, scratch, moments);

    const long long parity = round % 2;
    const Spreads spreads =
        all.After(a.split == 1 ? 0 : (parity * tiles_in_slab + tile_in_slab) * a.split);
    PutColumns<F>(tile, moments, spreads.After(chunk), scratch);
    if (a.split > 1) {
      barrier.ArriveAndWait(round);
    } else {
      __syncthreads();
    }
    FinishColumns<F>(tile, spreads, scratch, maps);
    AffineMap<S> map[F::kVector];
#pragma unroll
    for (int i = 0; i < F::kVector; ++i)
      map[i] = maps[i * F::kTileVectors + threadIdx.x % F::kTileVectors];
    held.Consume([&](int step, const V& v) { WriteVector<F>(a, at(step), v, map); });
    __syncthreads();
  }
  if (a.split > 1) barrier.Leave();
}

}  // namespace onepass_kernel
