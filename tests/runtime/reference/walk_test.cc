#include "runtime/reference/walk.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

using ::testing::ElementsAre;

// Offsets of one tensor over positions [begin, begin + count).
std::vector<int64_t> Offsets(const Walk& walk, int tensor, int64_t begin, int64_t count,
                             int64_t longest = 1 << 20) {
  std::vector<int64_t> offsets;
  int64_t next = begin;
  walk.ForEachRun(begin, count, longest, [&](const Walk::Run& run) {
    EXPECT_EQ(run.position, next);
    EXPECT_LE(run.length, longest);
    next += run.length;
    for (int64_t i = 0; i < run.length; ++i) {
      offsets.push_back(run.offsets[tensor] + i * walk.step(tensor));
    }
  });
  EXPECT_EQ(next, begin + count);
  return offsets;
}

TEST(WalkTest, DenseTensorsAreOneRun) {
  const Walk walk({2, 3, 4}, {{12, 4, 1}, {12, 4, 1}});
  int runs = 0;
  walk.ForEachRun(0, 24, 1 << 20, [&](const Walk::Run& run) { runs += run.length == 24; });
  EXPECT_EQ(runs, 1);
}

TEST(WalkTest, FollowsTheMemoryOfTheFirstTensor) {
  // A channels-last y and a channels-first x of 1x2x3.
  const Walk walk({1, 2, 3}, {{6, 1, 2}, {6, 3, 1}, {0, 1, 0}});
  EXPECT_THAT(Offsets(walk, 0, 0, 6), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(Offsets(walk, 1, 0, 6), ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(Offsets(walk, 2, 0, 6), ElementsAre(0, 1, 0, 1, 0, 1));
}

TEST(WalkTest, AnyPieceIsPartOfTheWhole) {
  const Walk walk({3, 4, 5}, {{20, 1, 4}, {1, 3, 12}});
  const std::vector<int64_t> whole = Offsets(walk, 1, 0, 60);
  for (int64_t begin = 0; begin <= 60; begin += 7) {
    for (int64_t count = 0; begin + count <= 60; count += 11) {
      const std::vector<int64_t> part = Offsets(walk, 1, begin, count, 3);
      EXPECT_EQ(part, std::vector<int64_t>(whole.begin() + begin, whole.begin() + begin + count));
    }
  }
}

TEST(WalkTest, EmptyAndSingleElements) {
  EXPECT_THAT(Offsets(Walk({2, 0, 3}, {{3, 3, 1}}), 0, 0, 0), ElementsAre());
  EXPECT_EQ(Walk({2, 0, 3}, {{3, 3, 1}}).elements(), 0);
  EXPECT_THAT(Offsets(Walk({1, 1}, {{9, 9}}), 0, 0, 1), ElementsAre(0));
}

}  // namespace
}  // namespace onepass
