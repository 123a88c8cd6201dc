#include "codegen/strategies/column_tile.h"

#include <algorithm>
#include <bit>

#include "codegen/capacity.h"
#include "codegen/divide.h"

namespace onepass {
namespace {

constexpr int kMinTileBytes = 64;
constexpr int kMaxTileVectors = 32;
constexpr int64_t kLatencyLimitedBytes = 800 * 1000;

}  // namespace

int WidestTile(const Key& key) {
  const auto row_vectors = static_cast<uint64_t>(key.inner / key.vector());
  return static_cast<int>(std::min<uint64_t>(kMaxTileVectors, std::bit_ceil(row_vectors)));
}

int NarrowestTile(const Key& key) {
  return std::min(WidestTile(key), std::max(1, kMinTileBytes / key.access_bytes));
}

int64_t TilesAcross(const Key& key, int tile_vectors) {
  return CeilDiv(key.inner, int64_t{tile_vectors} * key.vector());
}

int64_t PartialBytes(const Key& key, const Plan& plan) {
  return int64_t{plan.tile_vectors} * plan.vector * SpreadBytes(key);
}

int64_t MostSplits(const Key& key, const Plan& plan, int64_t tiles) {
  const int64_t moved = 2 * key.reduce_class * key.inner * key.element_bytes();
  if (moved < kLatencyLimitedBytes) return INT32_MAX;
  return std::max<int64_t>(moved * 12 / 1000 / (tiles * PartialBytes(key, plan)), 1);
}

}  // namespace onepass
