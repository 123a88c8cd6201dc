// Tiles of columns, as both Column strategies use them (templates/column_tile.cuh).
#pragma once

#include <cstdint>

#include "codegen/key.h"
#include "codegen/plan.h"

namespace onepass {

// Fewest and most vectors across a tile: whole sectors of at least 64 bytes where the matrix is
// that wide, and at most a warp's width. Powers of two.
int NarrowestTile(const Key& key);
int WidestTile(const Key& key);

// Tiles across the matrix.
int64_t TilesAcross(const Key& key, int tile_vectors);

// Bytes of the moments that one block leaves for the others of its tile.
int64_t PartialBytes(const Key& key, const Plan& plan);

// The most blocks a tile of `tiles` may be split over without the blocks' moments becoming
// noticeable traffic: 1.2 % of what x and y move. Tensors that move less than 800 KB are limited by
// latency instead, and are not held to it.
int64_t MostSplits(const Key& key, const Plan& plan, int64_t tiles);

}  // namespace onepass
