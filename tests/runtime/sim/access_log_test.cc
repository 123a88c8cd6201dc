#include "runtime/sim/access_log.h"

#include <gtest/gtest.h>

namespace onepass::sim {
namespace {

using Kind = AccessRun::Kind;

class AccessLogTest : public testing::Test {
 protected:
  AccessLogTest() { log_.Begin(16 * 1024); }

  // Lane i at `first` + i * `step`.
  const uint64_t* Lanes(uint64_t first, uint64_t step) {
    for (int i = 0; i < 32; ++i) addresses_[i] = first + i * step;
    return addresses_;
  }

  AccessLog log_;
  uint64_t addresses_[32];
};

TEST_F(AccessLogTest, NeighbouringReadsAreOneRun) {
  for (int i = 0; i < 10; ++i) log_.Read(4096 + 128 * i, 128, {});
  ASSERT_EQ(log_.runs().size(), 1u);
  EXPECT_EQ(log_.runs()[0].sector, 4096u / 32);
  EXPECT_EQ(log_.runs()[0].count, 40u);
  EXPECT_EQ(log_.sectors_requested, 40);
  EXPECT_EQ(log_.useful_bytes, 1280);
}

TEST_F(AccessLogTest, AReadThatL1HoldsDoesNotReachL2) {
  log_.Read(4096, 128, {});
  log_.Read(4096, 128, {});
  EXPECT_EQ(log_.runs().size(), 1u);
  EXPECT_EQ(log_.sectors_requested, 8);
  log_.Read(4096, 128, {.use_l1 = false, .fill_l1 = false});
  EXPECT_EQ(log_.runs().size(), 2u);
}

TEST_F(AccessLogTest, L1FetchesSectorsAndNotLines) {
  log_.Read(4096, 32, {});
  log_.Read(4096, 128, {});
  ASSERT_EQ(log_.runs().size(), 1u);  // the rest of the line follows its first sector
  EXPECT_EQ(log_.runs()[0].count, 4u);
}

TEST_F(AccessLogTest, L1IsNoLargerThanItsShare) {
  log_.Begin(8 * 1024);
  for (int pass = 0; pass < 2; ++pass) log_.Read(0, 16 * 1024, {});
  EXPECT_EQ(log_.runs()[0].count + log_.runs().back().count, 2u * 16 * 1024 / 32);
}

TEST_F(AccessLogTest, MisalignedWriteHasPartialEnds) {
  log_.Write(4096 + 4, 128, {});
  ASSERT_EQ(log_.runs().size(), 3u);
  EXPECT_EQ(log_.runs()[0].kind, Kind::kPartialWrite);
  EXPECT_EQ(log_.runs()[0].count, 0xfffffff0u);
  EXPECT_EQ(log_.runs()[1].kind, Kind::kWrite);
  EXPECT_EQ(log_.runs()[1].count, 3u);
  EXPECT_EQ(log_.runs()[2].count, 0x0000000fu);
  log_.Write(4096 + 132, 128, {});  // what follows completes the sector
  EXPECT_EQ(log_.runs()[2].count, 0xffffffffu);
}

TEST_F(AccessLogTest, GatherCountsDistinctSectorsAndBytes) {
  log_.Gather(Lanes(4096, 64), ~0u, 4, {});
  EXPECT_EQ(log_.sectors_requested, 32);
  EXPECT_EQ(log_.useful_bytes, 128);
  log_.Begin(0);
  log_.Gather(Lanes(4096, 2), ~0u, 2, {});
  EXPECT_EQ(log_.sectors_requested, 2);
  EXPECT_EQ(log_.useful_bytes, 64);
  log_.Begin(0);
  log_.Gather(Lanes(4096, 0), ~0u, 4, {});
  EXPECT_EQ(log_.sectors_requested, 1);
  EXPECT_EQ(log_.useful_bytes, 4);
}

TEST_F(AccessLogTest, ScatterOfHalfTheLanesIsPartial) {
  log_.Scatter(Lanes(4096, 4), 0x55555555u, 4, {});
  ASSERT_EQ(log_.runs().size(), 4u);
  EXPECT_EQ(log_.runs()[0].kind, Kind::kPartialWrite);
  EXPECT_EQ(log_.runs()[0].count, 0x0f0f0f0fu);
}

}  // namespace
}  // namespace onepass::sim
