#include "runtime/sim/l2.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>

#include "runtime/sim/memory.h"

namespace onepass::sim {
namespace {

constexpr uint64_t kFirst = (GlobalMemory::kBase + (1 << 20)) >> kSectorBits;
constexpr uint32_t kCapacity = 1024;  // sectors

// A cache of kCapacity sectors, and its traffic in sectors.
class L2Test : public testing::Test {
 protected:
  L2Test() : l2_(kCapacity * 32) {}

  void Touch(AccessRun::Kind kind, uint64_t from, uint32_t count,
             Eviction eviction = Eviction::kNormal) {
    l2_.Replay({kFirst + from, count, kind, eviction}, 0, count);
  }
  void Read(uint64_t from, uint32_t count, Eviction eviction = Eviction::kNormal) {
    Touch(AccessRun::Kind::kRead, from, count, eviction);
  }
  void Write(uint64_t from, uint32_t count, Eviction eviction = Eviction::kNormal) {
    Touch(AccessRun::Kind::kWrite, from, count, eviction);
  }
  void WriteBytes(uint64_t sector, uint32_t mask) {
    l2_.Replay({kFirst + sector, mask, AccessRun::Kind::kPartialWrite, Eviction::kNormal}, 0, 1);
  }
  // From the last line to the first.
  void ReadReversed(uint64_t from, uint32_t count) {
    for (uint32_t i = count; i > 0; i -= 4) Read(from + i - 4, 4);
  }
  int64_t reads() { return l2_.counts().dram_read_bytes / 32; }
  int64_t writes() { return l2_.counts().dram_write_bytes / 32; }

  L2 l2_;
};

TEST_F(L2Test, HoldsItsCapacity) {
  Read(0, kCapacity);
  Read(0, kCapacity);
  EXPECT_EQ(reads(), kCapacity);
}

TEST_F(L2Test, ForwardTwiceBeyondTheCapacityMissesEverything) {
  Read(0, kCapacity + 4);
  Read(0, kCapacity + 4);
  EXPECT_EQ(reads(), 2 * (kCapacity + 4));
}

TEST_F(L2Test, TheSecondPassInReverseFindsWhatIsLeft) {
  // S = 2 L: 2 S - min(S, L), DESIGN section 4 with nothing else touched.
  Read(0, 2 * kCapacity);
  ReadReversed(0, 2 * kCapacity);
  EXPECT_EQ(reads(), 4 * kCapacity - kCapacity);
}

TEST_F(L2Test, ReverseBesideAnOutputFindsItsShare) {
  // S = 4 L, O = S: of L, the part S/(S+O) holds what both passes read.
  constexpr uint32_t kSize = 4 * kCapacity;
  Read(0, kSize);
  for (uint32_t i = kSize; i > 0; i -= 4) {
    Read(i - 4, 4);
    Write((1 << 16) + i - 4, 4);
  }
  EXPECT_NEAR(reads(), 2 * kSize - kCapacity / 2, kCapacity * 0.02);
}

TEST_F(L2Test, EvictFirstKeepsTheOutputFromPushingOutTheInput) {
  constexpr uint32_t kSize = 4 * kCapacity;
  Read(0, kSize);
  for (uint32_t i = kSize; i > 0; i -= 4) {
    Read(i - 4, 4);
    Write((1 << 16) + i - 4, 4, Eviction::kFirst);
  }
  EXPECT_NEAR(reads(), 2 * kSize - kCapacity, kCapacity * 0.02);
}

TEST_F(L2Test, EvictLastOutlivesAStream) {
  Read(0, kCapacity / 2, Eviction::kLast);
  Read(1 << 16, 8 * kCapacity);
  const int64_t before = reads();
  Read(0, kCapacity / 2, Eviction::kLast);
  EXPECT_EQ(reads(), before);
}

TEST_F(L2Test, WholeSectorsAreWrittenWithoutARead) {
  Write(0, 64);
  l2_.Flush();
  EXPECT_EQ(reads(), 0);
  EXPECT_EQ(writes(), 64);
}

TEST_F(L2Test, APartlyWrittenSectorCostsOneFill) {
  WriteBytes(0, 0x0000ffff);
  WriteBytes(0, 0x000fffff);
  l2_.Flush();
  EXPECT_EQ(reads(), 1);
  EXPECT_EQ(writes(), 1);
}

TEST_F(L2Test, PartsThatMakeASectorWholeCostNone) {
  WriteBytes(0, 0x0000ffff);
  WriteBytes(1, 0x0000ffff);
  WriteBytes(0, 0xffff0000);
  Write(1, 1);
  Read(0, 2);
  l2_.Flush();
  EXPECT_EQ(reads(), 0);
  EXPECT_EQ(writes(), 2);
}

TEST_F(L2Test, ReadingAPartlyWrittenSectorFillsIt) {
  WriteBytes(0, 1);
  Read(0, 1);
  l2_.Flush();
  EXPECT_EQ(reads(), 1);
  EXPECT_EQ(writes(), 1);
}

TEST_F(L2Test, DirtyLinesAreWrittenWhenTheyLeave) {
  Write(0, kCapacity);
  EXPECT_EQ(writes(), 0);
  Read(1 << 16, kCapacity / 2);
  EXPECT_EQ(writes(), kCapacity / 2);
  l2_.Flush();
  EXPECT_EQ(writes(), kCapacity);
}

TEST_F(L2Test, AnAtomicReadsAndDirties) {
  Touch(AccessRun::Kind::kUpdate, 0, 1);
  Touch(AccessRun::Kind::kUpdate, 0, 1);
  l2_.Flush();
  EXPECT_EQ(reads(), 1);
  EXPECT_EQ(writes(), 1);
  EXPECT_EQ(l2_.counts().l2_write_bytes, 64);
}

TEST_F(L2Test, ClearForgetsWithoutTraffic) {
  Write(0, 64);
  l2_.Clear();
  l2_.Flush();
  EXPECT_EQ(writes(), 0);
}

// Many more touches than lines, of all kinds of eviction, against a list that is searched.
TEST_F(L2Test, EvictsInTheOrderOfAList) {
  constexpr uint64_t kLines = kCapacity / 4;
  std::list<uint64_t> lists[3];  // by Eviction, newest first
  std::mt19937_64 random(5);
  int64_t missed = 0;
  for (int i = 0; i < 200'000; ++i) {
    const uint64_t line = random() % (kLines * 3 / 2);
    const auto eviction = static_cast<Eviction>(random() % 8 < 6 ? 0 : random() % 3);
    bool cached = false;
    for (std::list<uint64_t>& list : lists) {
      const auto at = std::find(list.begin(), list.end(), line);
      cached |= at != list.end();
      if (at != list.end()) list.erase(at);
    }
    if (!cached) ++missed;
    if (!cached && lists[0].size() + lists[1].size() + lists[2].size() == kLines) {
      for (const int oldest : {1, 0, 2}) {
        if (lists[oldest].empty()) continue;
        lists[oldest].pop_back();
        break;
      }
    }
    lists[static_cast<int>(eviction)].push_front(line);
    Read(4 * line, 4, eviction);
    ASSERT_EQ(reads(), 4 * missed) << i;
  }
}

TEST_F(L2Test, IsAsNewAfterAFlushOrClear) {
  for (const bool flush : {true, false, true}) {
    const int64_t before = reads();
    WriteBytes(0, 0xff);
    Write(8, 8);
    Read(0, 16);
    EXPECT_EQ(reads() - before, 8);
    WriteBytes(20, 0xff);
    const int64_t written = writes();
    flush ? l2_.Flush() : l2_.Clear();
    EXPECT_EQ(writes() - written, flush ? 10 : 0);
    EXPECT_EQ(reads() - before, flush ? 9 : 8);
  }
}

}  // namespace
}  // namespace onepass::sim
