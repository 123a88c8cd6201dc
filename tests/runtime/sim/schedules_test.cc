// Who goes when: what every interleaving has in common, what differs, and what repeats.
#include <numeric>
#include <set>

#include "tests/runtime/sim/compiled.h"

namespace onepass::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uint64_t kSeeds = 40;

Program Open(uint64_t seed, int host_threads = 2, int sms = 4) {
  return Program("schedules", "compute_90",
                 {.seed = seed, .host_threads = host_threads, .instruction_limit = 1 << 24},
                 Machine{.sms = sms});
}

struct Racy {
  const char* entry;
  uint32_t blocks;
  uint32_t threads;
  size_t words;
};
// Several blocks, several warps, the lanes of one warp.
constexpr Racy kRacy[] = {
    {"racy_strong", 6, 64, 4},
    {"racy_plain", 6, 64, 4},
    {"racy_plain", 1, 256, 4},
    {"racy_lanes", 1, 32, 1},
};

std::vector<uint32_t> ResultOf(const Racy& racy, uint64_t seed, int host_threads) {
  Program program = Open(seed, host_threads);
  const uint64_t x = program.Out<uint32_t>(racy.words);
  const auto status = program.Launch(
      {.entry = racy.entry, .grid = {racy.blocks, 1, 1}, .block = {racy.threads, 1, 1}},
      Packed().Add(x));
  EXPECT_TRUE(status.ok()) << status;
  return program.Take<uint32_t>(x, racy.words);
}

TEST(SchedulesTest, ASeedRepeatsBitForBitWhateverTheKernelDoes) {
  for (const Racy& racy : kRacy) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const auto once = ResultOf(racy, seed, 1);
      EXPECT_EQ(ResultOf(racy, seed, 1), once) << racy.entry << " seed " << seed;
      EXPECT_EQ(ResultOf(racy, seed, 2), once) << racy.entry << " seed " << seed;
    }
  }
  // Seed 0 orders what the kernel calls strong, on any number of host threads.
  EXPECT_EQ(ResultOf(kRacy[0], 0, 1), ResultOf(kRacy[0], 0, 2));
}

TEST(SchedulesTest, OtherSeedsAreOtherInterleavings) {
  for (const Racy& racy : kRacy) {
    std::set<std::vector<uint32_t>> results;
    for (uint64_t seed = 1; seed <= 20; ++seed) results.insert(ResultOf(racy, seed, 1));
    EXPECT_GE(results.size(), 10u) << racy.entry << " " << racy.blocks;
  }
}

// The counts of a seed repeat as well.
TEST(SchedulesTest, CountsOfASeedRepeat) {
  const auto counts = [](uint64_t seed, int host_threads) {
    Program program = Open(seed, host_threads);
    const uint64_t x = program.Out<uint32_t>(4);
    EXPECT_TRUE(program
                    .Launch({.entry = "racy_plain", .grid = {9, 1, 1}, .block = {96, 1, 1}},
                            Packed().Add(x))
                    .ok());
    return program.gpu().TakeCounts();
  };
  EXPECT_EQ(counts(3, 1), counts(3, 2));
}

TEST(SchedulesTest, ThreadsComeInManyOrders) {
  std::set<std::vector<uint32_t>> orders;
  std::set<uint32_t> firsts;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program = Open(seed);
    const uint64_t count = program.Out<uint32_t>(1);
    const uint64_t to = program.Out<uint32_t>(320);
    ASSERT_TRUE(program
                    .Launch({.entry = "arrivals", .grid = {5, 1, 1}, .block = {64, 1, 1}},
                            Packed().Add(count).Add(to))
                    .ok());
    auto order = program.Take<uint32_t>(to, 320);
    orders.insert(order);
    firsts.insert(order[0] / 32);
    std::sort(order.begin(), order.end());
    for (uint32_t i = 0; i < 320; ++i) ASSERT_EQ(order[i], i);
  }
  EXPECT_GE(orders.size(), kSeeds / 2);
  EXPECT_EQ(firsts.size(), 10u);  // every warp is the first one under some seed
}

// What sync_on_paths does, lane by lane.
std::vector<uint32_t> OnPaths() {
  std::vector<uint32_t> x(32), next(32);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    x[lane] = lane;
    for (uint32_t i = 0; i < lane % 7; ++i) x[lane] = x[lane] * 3 + i;
  }
  for (uint32_t lane = 0; lane < 32; ++lane) next[lane] = x[lane] + x[lane ^ 1];
  x = next;
  uint32_t sum = 0, ballot = 0;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (lane % 3 == 0) {
      for (uint32_t i = 0; i < lane; ++i) x[lane] += i * i;
      sum += x[lane] & 255;
    }
    if (lane % 3 == 1 && (x[lane] & 4) != 0) ballot |= 1u << lane;
  }
  next = x;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    if (lane % 3 == 0) next[lane] += sum;
    if (lane % 3 == 1) next[lane] ^= ballot;
    if (lane % 3 != 2) continue;
    for (uint32_t peer = 2; peer < 32; peer += 3) {
      if (x[peer] % 4 == x[lane] % 4) next[lane] += 1u << peer;
    }
  }
  const std::vector<uint32_t> held = next;
  for (uint32_t lane = 0; lane < 28; ++lane) {
    if (lane % 2 == 1) {
      next[lane] += held[lane - 1];
    } else {
      for (uint32_t i = 0; i < lane; ++i) next[lane] = next[lane] * 5 + i;
      next[lane] -= held[lane + 1];
    }
  }
  const uint32_t fifth = next[5];
  for (uint32_t lane = 0; lane < 28; ++lane) next[lane] += fifth;
  return next;
}

TEST(SchedulesTest, SyncOperationsGatherTheirLanesFromAllPaths) {
  const auto want = OnPaths();
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program = Open(seed);
    const uint64_t out = program.Out<uint32_t>(32);
    const auto status =
        program.Launch({.entry = "sync_on_paths", .block = {32, 1, 1}}, Packed().Add(out));
    ASSERT_TRUE(status.ok()) << status << " seed " << seed;
    ASSERT_EQ(program.Take<uint32_t>(out, 32), want) << "seed " << seed;
  }
}

TEST(SchedulesTest, LocksInsideLocksInsideAWarp) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program = Open(seed);
    const uint64_t counters = program.Out<uint32_t>(4);
    const auto status =
        program.Launch({.entry = "nested_locks", .block = {96, 1, 1}}, Packed().Add(counters));
    ASSERT_TRUE(status.ok()) << status << " seed " << seed;
    ASSERT_EQ(program.Take<uint32_t>(counters, 4), (std::vector<uint32_t>{64, 64, 64, 192}));
  }
}

TEST(SchedulesTest, ProducersAndConsumersAtNamedBarriers) {
  constexpr int kRounds = 11;
  std::vector<uint32_t> in(64 * kRounds);
  std::iota(in.begin(), in.end(), 5u);
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program = Open(seed);
    const uint64_t out = program.Out<uint32_t>(in.size());
    const auto status = program.Launch({.entry = "named_ring", .block = {128, 1, 1}},
                                       Packed().Add(program.In(in)).Add(out).Add(kRounds));
    ASSERT_TRUE(status.ok()) << status << " seed " << seed;
    const auto got = program.Take<uint32_t>(out, in.size());
    for (int i = 0; i < 64 * kRounds; ++i) {
      ASSERT_EQ(got[i], in[i / 64 * 64 + 63 - i % 64] + 1) << "seed " << seed;
    }
  }
}

TEST(SchedulesTest, GridBarriersThatTurnOver) {
  constexpr uint32_t kBlocks = 12;
  constexpr int kRounds = 5;
  std::vector<uint32_t> want(kBlocks);
  std::iota(want.begin(), want.end(), 0u);
  for (int i = 0; i < kRounds; ++i) {
    const std::vector<uint32_t> words = want;
    for (uint32_t& sum : want) {
      for (const uint32_t word : words) sum = sum * 3 + word;
    }
  }
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Program program = Open(seed);
    const uint64_t words = program.Out<uint32_t>(2 * kBlocks);
    const uint64_t barrier = program.Out<uint32_t>(2);
    const uint64_t out = program.Out<uint32_t>(kBlocks);
    const auto status = program.Launch(
        {.entry = "grid_rounds", .grid = {kBlocks, 1, 1}, .block = {64, 1, 1}, .cooperative = true},
        Packed().Add(words).Add(barrier).Add(out).Add(kRounds));
    ASSERT_TRUE(status.ok()) << status << " seed " << seed;
    ASSERT_EQ(program.Take<uint32_t>(out, kBlocks), want) << "seed " << seed;
  }
}

// What a launch that cannot end says.
std::string Deadlock(const LaunchShape& shape, uint64_t seed, size_t words = 8) {
  Program program = Open(seed);
  const uint64_t out = program.In(std::vector<uint32_t>(words), "flags");
  const auto status = program.Launch(shape, Packed().Add(out));
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted) << shape.entry;
  return std::string(status.message());
}

TEST(SchedulesTest, DeadlocksSayWhoWaitsForWhat) {
  for (const uint64_t seed : {0, 1, 2}) {
    EXPECT_THAT(Deadlock({.entry = "kept_lock", .block = {32, 1, 1}}, seed),
                AllOf(HasSubstr("kept_lock: deadlock"), HasSubstr("warp 0 waits"),
                      HasSubstr("atom.global.cas.b32")));
    EXPECT_THAT(
        Deadlock({.entry = "flag_of_nobody", .grid = {3, 1, 1}, .block = {64, 1, 1}}, seed),
        AllOf(HasSubstr("deadlock: 3 resident blocks"), HasSubstr("block (0,0,0)"),
              HasSubstr("ld.volatile.global.u32"), HasSubstr("polls flags[1]"),
              HasSubstr("warp 1 waits"), HasSubstr("barrier 0: 32 of 64 threads have arrived")));
    EXPECT_THAT(Deadlock({.entry = "absent_warp", .block = {96, 1, 1}}, seed),
                AllOf(HasSubstr("deadlock in block (0,0,0), 1 of 3 warps have exited"),
                      HasSubstr("barrier 3: 64 of 96 threads have arrived")));
    EXPECT_THAT(Deadlock({.entry = "unmatched_lanes", .block = {32, 1, 1}}, seed),
                AllOf(HasSubstr("deadlock"), HasSubstr("lanes 000fffff at PTX line"),
                      HasSubstr("shfl.sync.idx"), HasSubstr("lanes fff00000 at PTX line"),
                      HasSubstr("bar.warp.sync")));
    EXPECT_THAT(Deadlock({.entry = "mbarrier_of_three", .block = {32, 1, 1}}, seed),
                AllOf(HasSubstr("deadlock"), HasSubstr("mbarrier.try_wait.parity"),
                      HasSubstr("of shared memory: 2 arrivals and 64 bytes are missing")));
    EXPECT_THAT(Deadlock({.entry = "absent_from_the_cluster",
                          .grid = {4, 1, 1},
                          .block = {64, 1, 1},
                          .cluster = {4, 1, 1}},
                         seed),
                AllOf(HasSubstr("deadlock"), HasSubstr("barrier.cluster.wait"),
                      HasSubstr("cluster's barrier: block (2,0,0) warp 1 lanes ffffffff has not "
                                "arrived")));
  }
}

TEST(SchedulesTest, ACooperativeGridThatCannotBeResidentIsRefused) {
  Program program = Open(0, 1, /*sms=*/2);
  const uint64_t words = program.Out<uint32_t>(1024);
  const Packed parameters = Packed().Add(words).Add(words).Add(words).Add(0);
  LaunchShape shape{.entry = "grid_rounds", .block = {1024, 1, 1}, .cooperative = true};
  shape.grid[0] = 5;  // two blocks of 1,024 threads an SM
  const auto refused = program.Launch(shape, parameters);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("a cooperative grid of 5 blocks, h200 holds 4 (2 an SM)"));
  shape.grid[0] = 4;
  EXPECT_TRUE(program.Launch(shape, parameters).ok());
  // Registers and shared memory bound it as well.
  shape.registers_per_thread = 64;
  EXPECT_EQ(program.Launch(shape, parameters).code(), absl::StatusCode::kInvalidArgument);
  shape.grid[0] = 2;
  EXPECT_TRUE(program.Launch(shape, parameters).ok());
  shape.registers_per_thread = 0;
  shape.grid[0] = 4;
  shape.dynamic_shared_bytes = 120 << 10;
  EXPECT_EQ(program.Launch(shape, parameters).code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace onepass::sim
