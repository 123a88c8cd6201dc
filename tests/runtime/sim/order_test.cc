// The order of a launch's accesses, against vector clocks of every thread kept the plain way.
#include "runtime/sim/order.h"

#include <array>
#include <map>
#include <random>

#include "gtest/gtest.h"

namespace onepass::sim {
namespace {

TEST(ClocksTest, BoundsOfBlocksWarpsAndLanesHoldForAllBelow) {
  Clocks clocks;
  EXPECT_TRUE(clocks.empty());
  clocks.RaiseBlock(7, 10);
  clocks.RaiseWarp(7, 3, 20);
  clocks.RaiseLane(7, 3, 31, 30);
  clocks.RaiseLane(123456789, 0, 0, 5);
  EXPECT_EQ(clocks.Of(7, 0, 0), 10u);
  EXPECT_EQ(clocks.Of(7, 3, 0), 20u);
  EXPECT_EQ(clocks.Of(7, 3, 31), 30u);
  EXPECT_EQ(clocks.Of(8, 3, 31), 0u);
  EXPECT_EQ(clocks.Of(123456789, 0, 0), 5u);
  EXPECT_EQ(clocks.Of(123456789, 0, 1), 0u);
  const Clocks before = clocks;
  clocks.RaiseWarp(7, 3, 15);  // known already
  clocks.RaiseBlock(7, 25);
  EXPECT_EQ(clocks.Of(7, 3, 0), 25u);
  EXPECT_EQ(clocks.Of(7, 3, 31), 30u);
  EXPECT_EQ(before.Of(7, 3, 0), 20u) << "a copy changed";
}

TEST(ClocksTest, JoiningTakesTheLargerOfEachAsAPlainTableDoes) {
  std::mt19937 random(1);
  using Table = std::map<std::array<int, 3>, uint32_t>;
  Clocks trees[4];
  Table tables[4];
  const auto check = [&](int i) {
    for (int block = 0; block < 5; ++block) {
      for (int warp = 0; warp < 3; ++warp) {
        for (int lane = 0; lane < 4; ++lane) {
          ASSERT_EQ(trees[i].Of(block * 1000, warp, lane), (tables[i][{block, warp, lane}]));
        }
      }
    }
  };
  const auto raise = [&](Table& table, int block, int warp, int lane, uint32_t bound) {
    for (int w = 0; w < 3; ++w) {
      for (int l = 0; l < 4; ++l) {
        if ((warp >= 0 && w != warp) || (lane >= 0 && l != lane)) continue;
        uint32_t& entry = table[{block, w, l}];
        entry = std::max(entry, bound);
      }
    }
  };
  for (int step = 0; step < 2000; ++step) {
    const int i = random() % 4, block = random() % 5, warp = random() % 3, lane = random() % 4;
    const uint32_t bound = random() % 1000;
    switch (random() % 4) {
      case 0:
        trees[i].RaiseBlock(block * 1000, bound);
        raise(tables[i], block, -1, -1, bound);
        break;
      case 1:
        trees[i].RaiseWarp(block * 1000, warp, bound);
        raise(tables[i], block, warp, -1, bound);
        break;
      case 2:
        trees[i].RaiseLane(block * 1000, warp, lane, bound);
        raise(tables[i], block, warp, lane, bound);
        break;
      default: {
        const int from = random() % 4;
        trees[i].Join(trees[from]);
        for (auto& [key, value] : tables[i]) value = std::max(value, tables[from][key]);
        if (random() % 20 == 0) {
          trees[i] = Clocks();
          for (auto& [key, value] : tables[i]) value = 0;
        }
      }
    }
    if (step % 50 == 0) check(i);
  }
  for (int i = 0; i < 4; ++i) check(i);
}

// Two blocks of two warps of four lanes (the other 28 never do anything). Every lane has a clock of
// its own and a table of what it knows of every other, updated event by event.
class OrderAgainstVectorClocks {
 public:
  static constexpr int kBlocks = 2, kWarps = 2, kLanes = 4, kThreads = kBlocks * kWarps * kLanes;
  using Vector = std::array<int, kThreads>;

  explicit OrderAgainstVectorClocks(unsigned seed) : random_(seed) {
    for (int b = 0; b < kBlocks; ++b) orders_[b].Start(b, kWarps);
    for (int t = 0; t < kThreads; ++t) knows_[t][t] = 1;
  }

  void Step() {
    const int thread = Pick(kThreads);
    const int block = thread / (kWarps * kLanes), warp = thread / kLanes % kWarps;
    switch (Pick(12)) {
      case 0:
        return Fence(thread, /*block_scope=*/false);
      case 1:
        return Fence(thread, /*block_scope=*/true);
      case 2:
        return JoinLanes(block, warp);
      case 3:
        if (Pick(3) == 0) return JoinBlock(block);
        return MeetAtNamedBarrier(block);
      case 4:
      case 5:
      case 6:
        return Strong(thread);
      default:
        return Access(thread);
    }
  }

 private:
  struct Word {
    Released released;
    Vector to_all{}, to_block{};
    int block = -1;
  };
  struct Seen {
    int thread, clock;  // of the plain clocks
    uint32_t time;      // of BlockOrder
  };

  int Pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  static int BlockOf(int thread) { return thread / (kWarps * kLanes); }
  static int WarpOf(int thread) { return thread / kLanes % kWarps; }
  static int LaneOf(int thread) { return thread % kLanes; }
  static void Join(Vector& into, const Vector& from) {
    for (int i = 0; i < kThreads; ++i) into[i] = std::max(into[i], from[i]);
  }

  // An access of the thread is compared with all earlier ones, then remembered.
  void Access(int thread) {
    for (const Seen& seen : seen_) {
      const bool plain = seen.clock <= knows_[thread][seen.thread] || seen.thread == thread;
      const bool got = orders_[BlockOf(thread)].Ordered(BlockOf(seen.thread), WarpOf(seen.thread),
                                                        LaneOf(seen.thread), seen.time,
                                                        WarpOf(thread), LaneOf(thread));
      ASSERT_EQ(got, plain) << "thread " << seen.thread << " before thread " << thread;
    }
    seen_.push_back(
        {thread, ++knows_[thread][thread], orders_[BlockOf(thread)].Now(WarpOf(thread))});
    if (seen_.size() > 60) seen_.erase(seen_.begin(), seen_.begin() + 20);
  }

  void Fence(int thread, bool block_scope) {
    orders_[BlockOf(thread)].Fence(WarpOf(thread), 1u << LaneOf(thread), block_scope);
    Join(knows_[thread], pending_block_[thread]);
    pending_block_[thread] = {};
    if (!block_scope) {
      Join(knows_[thread], pending_[thread]);
      pending_[thread] = {};
    }
    fenced_block_[thread] = knows_[thread];
    if (!block_scope) fenced_[thread] = knows_[thread];
  }

  // The listed threads learn all that they know together, fences included.
  void Meet(const std::vector<int>& threads, bool fences) {
    Vector all{}, fenced{};
    for (const int t : threads) Join(all, knows_[t]);
    for (const int t : threads) Join(fenced, fenced_[t]);
    for (const int t : threads) {
      knows_[t] = all;
      if (fences) fenced_[t] = fenced;
    }
  }

  void JoinLanes(int block, int warp) {
    const uint32_t mask = 1 + random_() % 15;
    std::vector<int> threads;
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((mask >> lane & 1) != 0) threads.push_back((block * kWarps + warp) * kLanes + lane);
    }
    orders_[block].JoinLanes(warp, mask == 15 ? ~0u : mask);
    Meet(threads, mask == 15);
  }

  void JoinBlock(int block) {
    orders_[block].JoinBlock();
    std::vector<int> threads;
    for (int i = 0; i < kWarps * kLanes; ++i) threads.push_back(block * kWarps * kLanes + i);
    Meet(threads, true);
  }

  void MeetAtNamedBarrier(int block) {
    Joint joint;
    for (int warp = 0; warp < kWarps; ++warp) orders_[block].Arrive(warp, joint);
    for (int warp = 0; warp < kWarps; ++warp) orders_[block].Leave(warp, joint);
    std::vector<int> threads;
    for (int i = 0; i < kWarps * kLanes; ++i) threads.push_back(block * kWarps * kLanes + i);
    Meet(threads, true);
  }

  void Strong(int thread) {
    Word& word = words_[Pick(2)];
    BlockOrder& order = orders_[BlockOf(thread)];
    const int warp = WarpOf(thread), lane = LaneOf(thread);
    const int kind = Pick(3);  // load, store, atomic
    const Strength strength = {kind != 1 && Pick(2) == 0, kind != 0 && Pick(2) == 0, Pick(4) == 0};
    if (kind != 1) {
      order.Acquire(warp, lane, word.released, strength);
      const bool same = word.block == BlockOf(thread);
      if (same) Join((strength.acquire ? knows_ : pending_block_)[thread], word.to_block);
      if (!strength.block_scope) Join((strength.acquire ? knows_ : pending_)[thread], word.to_all);
    }
    if (kind == 0) return;
    order.Release(warp, lane, word.released, strength, /*replaces=*/kind == 1);
    if (kind == 1) word = {word.released, {}, {}, -1};
    const Vector none{};
    const Vector& block = strength.release ? knows_[thread] : fenced_block_[thread];
    const Vector& all = strength.release ? knows_[thread] : fenced_[thread];
    if (!strength.release && fenced_block_[thread] == none && fenced_[thread] == none) return;
    if (word.block != BlockOf(thread)) word.to_block = {};
    word.block = BlockOf(thread);
    Join(word.to_block, block);
    if (!strength.block_scope) Join(word.to_all, all);
    if (!strength.block_scope) Join(word.to_all, fenced_[thread]);
  }

  std::mt19937 random_;
  BlockOrder orders_[kBlocks];
  std::array<Vector, kThreads> knows_{}, pending_{}, pending_block_{}, fenced_{}, fenced_block_{};
  Word words_[2];
  std::vector<Seen> seen_;
};

TEST(OrderTest, AgreesWithAVectorClockForEveryThread) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    OrderAgainstVectorClocks model(seed);
    for (int step = 0; step < 150 && !testing::Test::HasFatalFailure(); ++step) model.Step();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed;
  }
}

TEST(OrderTest, ManyBlocksReleaseThroughOneWordInLittleTimeAndMemory) {
  constexpr int kBlocks = 20000;
  Released word;
  Strength both = {.acquire = true, .release = true};
  for (int b = 0; b < kBlocks; ++b) {
    BlockOrder order;
    order.Start(b, 1);
    order.Acquire(0, 0, word, both);
    order.Release(0, 0, word, both, /*replaces=*/false);
    if (b == 0) continue;
    ASSERT_TRUE(order.Ordered(b - 1, 0, 0, 1, 0, 0));
    ASSERT_TRUE(order.Ordered(0, 0, 0, 1, 0, 0));
    ASSERT_FALSE(order.Ordered(b + 1, 0, 0, 1, 0, 0));
  }
}

}  // namespace
}  // namespace onepass::sim
