#include "codegen/sectors.h"

#include <random>
#include <set>

#include "gtest/gtest.h"

namespace onepass {
namespace {

using Axes = llvm::SmallVector<SectorAxis, 5>;

// By looking at every element.
int64_t CountOneByOne(int64_t begin, int64_t element_bytes, const Axes& axes) {
  std::set<int64_t> starts = {begin};
  for (const SectorAxis& axis : axes) {
    std::set<int64_t> moved;
    for (int64_t start : starts) {
      for (int64_t i = 0; i < axis.count; ++i) {
        const bool listed = !axis.positions.empty();
        moved.insert(start + (listed ? axis.positions[i] : i) * axis.stride);
      }
    }
    starts = std::move(moved);
  }
  std::set<int64_t> sectors;
  for (int64_t start : starts) {
    for (int64_t byte = 0; byte < element_bytes; ++byte)
      sectors.insert((start + byte) / kSectorBytes);
  }
  return static_cast<int64_t>(sectors.size());
}

TEST(SectorsTest, DenseTensorIsItsBytes) {
  EXPECT_EQ(CountSectors(0, 4, {{4, 8, {}}}), 1);
  EXPECT_EQ(CountSectors(0, 4, {{4, 9, {}}}), 2);
  EXPECT_EQ(CountSectors(4, 4, {{4, 8, {}}}), 2);
  EXPECT_EQ(
      CountSectors(0, 2, {{64 * 56 * 56 * 2, 32, {}}, {56 * 56 * 2, 64, {}}, {2, 56 * 56, {}}}),
      int64_t{32} * 64 * 56 * 56 * 2 / 32);
}

TEST(SectorsTest, NothingTouchesNothing) {
  EXPECT_EQ(CountSectors(0, 4, {{400, 0, {}}, {4, 100, {}}}), 0);
  EXPECT_EQ(CountSectors(0, 4, {}), 1);
}

TEST(SectorsTest, BroadcastAxesCountOnce) {
  EXPECT_EQ(CountSectors(0, 4, {{0, 1000, {}}, {4, 8, {}}}), 1);
  EXPECT_EQ(CountSectors(0, 4, {{0, 1000, {}}, {0, 8, {}}}), 1);
}

TEST(SectorsTest, SparseElementsCostAWholeSectorEach) {
  EXPECT_EQ(CountSectors(0, 4, {{64, 100, {}}}), 100);
  EXPECT_EQ(CountSectors(0, 4, {{32, 100, {}}}), 100);
  EXPECT_EQ(CountSectors(0, 4, {{16, 100, {}}}), 50);
}

TEST(SectorsTest, AgreesWithLookingAtEveryElement) {
  std::mt19937 random(3);
  for (int round = 0; round < 3000; ++round) {
    const int64_t element = int64_t{2} << random() % 3;
    Axes axes;
    for (int axis = random() % 4; axis >= 0; --axis) {
      SectorAxis each{static_cast<int64_t>(random() % 40) * element,
                      1 + static_cast<int64_t>(random() % 6),
                      {}};
      if (random() % 3 == 0) {
        int64_t at = random() % 3;
        for (int64_t i = 0; i < each.count; ++i, at += 1 + random() % 4)
          each.positions.push_back(at);
      }
      axes.push_back(each);
    }
    const int64_t begin = static_cast<int64_t>(random() % 16) * element;
    ASSERT_EQ(CountSectors(begin, element, axes), CountOneByOne(begin, element, axes)) << round;
  }
}

}  // namespace
}  // namespace onepass
