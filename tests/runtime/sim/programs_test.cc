// Programs that people write, by both compilers, under several interleavings, against the CPU.
#include <cmath>
#include <numeric>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/runtime/sim/compiled.h"

namespace onepass::sim {
namespace {

std::vector<int> Numbers(size_t count) {
  std::mt19937 random(7);
  std::vector<int> numbers(count);
  for (int& number : numbers) number = static_cast<int>(random() % 2001) - 1000;
  return numbers;
}

// All programs as one compiler makes them, under one seed.
class Programs {
 public:
  Programs(std::string arch, uint64_t seed, bool sanitize = false)
      : arch_(std::move(arch)), seed_(seed), sanitize_(sanitize) {}

  void Run() {
    BlocksReduceTheirParts();
    TheLastBlockAddsWhatAllBlocksHave();
    ScansOfABlock();
    ScanOfTheGridLooksBack();
    Histogram();
    CompactionWithOneAtomicAWarp();
    SumsByKeyThroughMatch();
    CooperativeGridMeetsTwice();
    LanesOfAWarpTakeALockInTurn();
    AWarpFillsARingThatAnotherEmpties();
    LoadsRunTwoTilesAhead();
    if (!absl::StrContains(arch_, "80")) ClustersNormaliseRows();  // sm_80 has no clusters
  }

 private:
  Program Open(const std::string& file) {
    return Program(
        file, arch_,
        {.seed = seed_, .host_threads = 2, .instruction_limit = 1 << 28, .sanitize = sanitize_},
        Machine{.sms = 4});
  }

  void BlocksReduceTheirParts();
  void TheLastBlockAddsWhatAllBlocksHave();
  void ScansOfABlock();
  void ScanOfTheGridLooksBack();
  void Histogram();
  void CompactionWithOneAtomicAWarp();
  void SumsByKeyThroughMatch();
  void CooperativeGridMeetsTwice();
  void LanesOfAWarpTakeALockInTurn();
  void AWarpFillsARingThatAnotherEmpties();
  void LoadsRunTwoTilesAhead();
  void ClustersNormaliseRows();

  const std::string arch_;
  const uint64_t seed_;
  const bool sanitize_;
};

// Also that no checker has anything to say.
#define ASSERT_LAUNCHED(launch)                                                                   \
  {                                                                                               \
    const auto status = launch;                                                                   \
    ASSERT_TRUE(status.ok()) << status;                                                           \
    for (const Finding& finding : program.gpu().TakeFindings()) ADD_FAILURE() << finding.message; \
  }

void Programs::BlocksReduceTheirParts() {
  Program program = Open("programs");
  const auto in = Numbers(5003);
  const uint64_t out = program.Out<int>(6);
  ASSERT_LAUNCHED(program.Launch({.entry = "block_reduce", .grid = {6, 1, 1}, .block = {192, 1, 1}},
                                 Packed().Add(program.In(in)).Add(out).Add(5003)));
  const auto sums = program.Take<int>(out, 6);
  std::vector<int> want(6);
  for (int i = 0; i < 5003; ++i) want[i / 192 % 6] += in[i];
  EXPECT_EQ(sums, want);
}

void Programs::TheLastBlockAddsWhatAllBlocksHave() {
  Program program = Open("programs");
  constexpr int kBlocks = 45;  // more than are resident at a time
  const auto in = Numbers(30011);
  const uint64_t partial = program.Out<int>(kBlocks);
  const uint64_t finished = program.Out<uint32_t>(1);
  const uint64_t out = program.Out<int>(1);
  ASSERT_LAUNCHED(
      program.Launch({.entry = "grid_reduce", .grid = {kBlocks, 1, 1}, .block = {256, 1, 1}},
                     Packed().Add(program.In(in)).Add(partial).Add(finished).Add(out).Add(30011)));
  EXPECT_EQ(program.Take<int>(out, 1)[0], std::accumulate(in.begin(), in.end(), 0));
}

void Programs::ScansOfABlock() {
  Program program = Open("programs");
  const auto in = Numbers(2048);
  const uint64_t from = program.In(in);
  const uint64_t out = program.Out<int>(2048);
  const struct {
    const char* entry;
    uint32_t threads;
  } kScans[] = {{"block_scan", 512}, {"shuffle_scan", 1024}};
  for (const auto& scan : kScans) {
    ASSERT_LAUNCHED(program.Launch(
        {.entry = scan.entry, .grid = {2048 / scan.threads, 1, 1}, .block = {scan.threads, 1, 1}},
        Packed().Add(from).Add(out)));
    std::vector<int> want(2048);
    for (uint32_t at = 0; at < 2048; at += scan.threads) {
      std::partial_sum(&in[at], &in[at] + scan.threads, &want[at]);
    }
    EXPECT_EQ(program.Take<int>(out, 2048), want) << scan.entry;
  }
}

void Programs::ScanOfTheGridLooksBack() {
  Program program = Open("programs");
  constexpr int kTiles = 67;
  std::vector<int> in(256 * kTiles);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * 37 % 101);
  const uint64_t out = program.Out<int>(in.size());
  const uint64_t states = program.Out<uint32_t>(kTiles);
  const uint64_t ticket = program.Out<uint32_t>(1);
  ASSERT_LAUNCHED(
      program.Launch({.entry = "lookback_scan", .grid = {kTiles, 1, 1}, .block = {256, 1, 1}},
                     Packed().Add(program.In(in)).Add(out).Add(states).Add(ticket)));
  std::vector<int> want(in.size());
  std::partial_sum(in.begin(), in.end(), want.begin());
  EXPECT_EQ(program.Take<int>(out, in.size()), want);
}

void Programs::Histogram() {
  Program program = Open("programs");
  std::vector<uint8_t> in(20011);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint8_t>(i * i % 251 / 3);
  const uint64_t bins = program.Out<uint32_t>(256);
  ASSERT_LAUNCHED(program.Launch({.entry = "histogram", .grid = {9, 1, 1}, .block = {160, 1, 1}},
                                 Packed().Add(program.In(in)).Add(bins).Add(20011)));
  std::vector<uint32_t> want(256);
  for (const uint8_t value : in) ++want[value];
  EXPECT_EQ(program.Take<uint32_t>(bins, 256), want);
}

void Programs::CompactionWithOneAtomicAWarp() {
  Program program = Open("programs");
  const auto in = Numbers(7001);
  const uint64_t out = program.Out<int>(in.size());
  const uint64_t count = program.Out<uint32_t>(1);
  ASSERT_LAUNCHED(program.Launch({.entry = "compact", .grid = {28, 1, 1}, .block = {256, 1, 1}},
                                 Packed().Add(program.In(in)).Add(out).Add(count).Add(7001)));
  std::vector<int> want;
  for (const int value : in) {
    if (value % 2 != 0) want.push_back(value);
  }
  ASSERT_EQ(program.Take<uint32_t>(count, 1)[0], want.size());
  auto kept = program.Take<int>(out, want.size());
  std::sort(kept.begin(), kept.end());
  std::sort(want.begin(), want.end());
  EXPECT_EQ(kept, want);
  // One atomic a warp, or a few where the interleaving splits it; never one an element.
  EXPECT_LE(program.gpu().TakeCounts().global_atomics, seed_ == 0 ? 224 : 2000);
}

void Programs::SumsByKeyThroughMatch() {
  Program program = Open("programs");
  const auto values = Numbers(3001);
  std::vector<int> keys(values.size());
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<int>(i * i % 13);
  const uint64_t sums = program.Out<int>(13);
  ASSERT_LAUNCHED(
      program.Launch({.entry = "sums_by_key", .grid = {24, 1, 1}, .block = {128, 1, 1}},
                     Packed().Add(program.In(keys)).Add(program.In(values)).Add(sums).Add(3001)));
  std::vector<int> want(13);
  for (size_t i = 0; i < keys.size(); ++i) want[keys[i]] += values[i];
  EXPECT_EQ(program.Take<int>(sums, 13), want);
}

void Programs::CooperativeGridMeetsTwice() {
  Program program = Open("programs");
  constexpr uint32_t kBlocks = 16;
  std::vector<float> in(10007);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 53 % 509);
  const uint64_t out = program.Out<float>(in.size());
  const uint64_t partial = program.Out<float>(kBlocks);
  const uint64_t barrier = program.Out<uint32_t>(1);
  ASSERT_LAUNCHED(
      program.Launch({.entry = "cooperative_mean",
                      .grid = {kBlocks, 1, 1},
                      .block = {256, 1, 1},
                      .cooperative = true},
                     Packed().Add(program.In(in)).Add(out).Add(partial).Add(barrier).Add(10007)));
  // Sums of small whole numbers are exact in any order.
  const float mean = std::accumulate(in.begin(), in.end(), 0.0f) / 10007;
  const auto centred = program.Take<float>(out, in.size());
  for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(centred[i], in[i] - mean) << i;
  EXPECT_EQ(program.Take<float>(partial, kBlocks), std::vector<float>(kBlocks));
}

void Programs::LanesOfAWarpTakeALockInTurn() {
  Program program = Open("programs");
  const uint64_t lock = program.Out<uint32_t>(1);
  const uint64_t counter = program.Out<int>(1);
  ASSERT_LAUNCHED(program.Launch({.entry = "spin_lock", .grid = {3, 1, 1}, .block = {96, 1, 1}},
                                 Packed().Add(lock).Add(counter)));
  EXPECT_EQ(program.Take<int>(counter, 1)[0], 3 * 96);
  EXPECT_EQ(program.Take<uint32_t>(lock, 1)[0], 0u);
}

void Programs::AWarpFillsARingThatAnotherEmpties() {
  Program program = Open("programs");
  const auto in = Numbers(101);
  const uint64_t out = program.Out<int>(in.size());
  ASSERT_LAUNCHED(program.Launch({.entry = "ring", .block = {64, 1, 1}},
                                 Packed().Add(program.In(in)).Add(out).Add(101)));
  const auto doubled = program.Take<int>(out, in.size());
  for (size_t i = 0; i < in.size(); ++i) EXPECT_EQ(doubled[i], 2 * in[i]) << i;
}

void Programs::LoadsRunTwoTilesAhead() {
  Program program = Open("async");
  constexpr int kRows = 77;
  std::vector<float> in(kRows * 128);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 31 % 97);
  const uint64_t out = program.Out<float>(128);
  ASSERT_LAUNCHED(program.Launch({.entry = "pipelined_sum", .block = {128, 1, 1}},
                                 Packed().Add(program.In(in)).Add(out).Add(kRows)));
  std::vector<float> want(128);
  for (size_t i = 0; i < in.size(); ++i) want[i % 128] += in[i];
  EXPECT_EQ(program.Take<float>(out, 128), want);
}

void Programs::ClustersNormaliseRows() {
  Program program = Open("cluster");
  constexpr int kRows = 3, kColumns = 4000;
  std::mt19937 random(9);
  std::normal_distribution<float> normal(5, 2);
  std::vector<float> in(kRows * kColumns);
  for (float& value : in) value = normal(random);
  const uint64_t out = program.Out<float>(in.size());
  ASSERT_LAUNCHED(program.Launch({.entry = "cluster_rows",
                                  .grid = {8 * kRows, 1, 1},
                                  .block = {128, 1, 1},
                                  .cluster = {8, 1, 1},
                                  .dynamic_shared_bytes = kColumns / 8 * 4},
                                 Packed().Add(program.In(in)).Add(out).Add(kColumns)));
  const auto y = program.Take<float>(out, in.size());
  for (int row = 0; row < kRows; ++row) {
    const float* x = &in[row * kColumns];
    const double mean = std::accumulate(x, x + kColumns, 0.0) / kColumns;
    double square = 0;
    for (int i = 0; i < kColumns; ++i) square += (x[i] - mean) * (x[i] - mean);
    const double scale = 1 / std::sqrt(square / kColumns + 1e-5);
    for (int i = 0; i < kColumns; ++i) {
      ASSERT_NEAR(y[row * kColumns + i], (x[i] - mean) * scale, 2e-6) << row << " " << i;
    }
  }
}

class ProgramsTest : public testing::TestWithParam<const char*> {};

TEST_P(ProgramsTest, AgreeWithTheCpuUnderEverySeed) {
  const std::string arch = GetParam();
  if (arch.starts_with("nvcc:") && Nvcc().empty()) GTEST_SKIP() << "no nvcc on this machine";
  for (const uint64_t seed : {0, 1, 2, 3, 4}) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Programs(arch, seed).Run();
  }
  SCOPED_TRACE("with all checkers");
  Programs(arch, 0, /*sanitize=*/true).Run();
}

INSTANTIATE_TEST_SUITE_P(, ProgramsTest,
                         testing::Values("compute_80", "compute_90", "compute_100",
                                         "nvcc:compute_80", "nvcc:compute_90", "nvcc:compute_100"),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param, {{":", "_"}});
                         });

}  // namespace
}  // namespace onepass::sim
