// The corner cases of shuffles, votes and barriers, as the text of the ISA has them.
#include <bit>
#include <functional>

#include "absl/strings/str_cat.h"
#include "tests/runtime/sim/lane_sweep.h"

namespace onepass::sim {
namespace {

// The ISA's own words for shfl.
struct Shuffled {
  int lane;
  bool valid;
};
Shuffled ShuffleOf(const std::string& mode, int lane, uint32_t b, uint32_t c) {
  const int bval = static_cast<int>(b & 31), cval = static_cast<int>(c & 31);
  const int segmask = static_cast<int>(c >> 8 & 31);
  const int max_lane = (lane & segmask) | (cval & ~segmask);
  const int min_lane = lane & segmask;
  int j = 0;
  bool valid = false;
  if (mode == "up") {
    j = lane - bval;
    valid = j >= max_lane;
  } else if (mode == "down") {
    j = lane + bval;
    valid = j <= max_lane;
  } else if (mode == "bfly") {
    j = lane ^ bval;
    valid = j <= max_lane;
  } else {
    j = min_lane | (bval & ~segmask);
    valid = j <= max_lane;
  }
  return {valid ? j : lane, valid};
}

// Every distance, clamp and segment mask; b and c uniform, then another for each lane.
TEST(CollectivesTest, EveryShuffle) {
  for (const std::string mode : {"up", "down", "bfly", "idx"}) {
    std::vector<std::vector<uint64_t>> in(4);
    const auto add = [&](int lane, uint32_t b, uint32_t c) {
      in[0].push_back(1000 + lane);
      in[1].push_back(b);
      in[2].push_back(c);
      in[3].push_back(0xffffffffu);
    };
    for (uint32_t c = 0; c < 1024; ++c) {
      for (const uint32_t b : {0u, 1u, 2u, 3u, 7u, 8u, 15u, 16u, 17u, 30u, 31u, 32u, 0xffffffffu}) {
        const uint32_t packed = (c & 31) | (c >> 5) << 8 | (c % 3 == 0 ? 0xffffe0e0u : 0);
        for (int lane = 0; lane < 32; ++lane) add(lane, b, packed);
      }
    }
    for (uint32_t i = 0; i < 3200; ++i)
      add(static_cast<int>(i % 32), i * 7 % 45, i * 2654435761u >> 9);
    const auto got =
        RunSweep({absl::StrCat("shfl.sync.", mode,
                               ".b32 %r10|%p2, %r0, %r1, %r2, %r3; @!%p2 add.u32 %r10, %r10, 500;"),
                  32,
                  {32, 32, 32, 32}},
                 in);
    for (size_t i = 0; i < got.size(); ++i) {
      const Shuffled from =
          ShuffleOf(mode, static_cast<int>(i % 32), static_cast<uint32_t>(in[1][i]),
                    static_cast<uint32_t>(in[2][i]));
      // Where b and c differ, a source lane may itself be anything in 0..31.
      const uint64_t want = 1000 + (from.lane & 31) + (from.valid ? 0 : 500);
      ASSERT_EQ(got[i], want) << mode << " lane " << i % 32 << std::hex << " b " << in[1][i]
                              << " c " << in[2][i];
    }
  }
}

// %r9 of every thread after `body`, which finds its thread in %r0 and its lane in %r19.
struct Row {
  const char* what;
  const char* body;
  uint32_t threads;
  std::function<uint32_t(uint32_t)> want;
};

const Row kRows[] = {
    {"shfl: lanes of a mask in turn on two paths",
     "setp.lt.u32 %p1, %r19, 8; @%p1 bra LOW; shfl.sync.idx.b32 %r9, %r0, 20, 31, 0xffffff00; bra "
     "E;"
     "LOW: shfl.sync.down.b32 %r9, %r0, 1, 0x1807, 0xff; E:",
     32, [](uint32_t t) { return t < 8 ? (t == 7 ? 7u : t + 1) : 20u; }},
    {"shfl: a block whose last warp is not full", "shfl.sync.bfly.b32 %r9|%p2, %r0, 1, 31, -1;", 64,
     [](uint32_t t) { return t ^ 1; }},
    {"vote: every lane has a mask of its own",
     "and.b32 %r1, %r19, 1; setp.eq.u32 %p1, %r1, 1; selp.b32 %r2, 0xaaaaaaaa, 0x55555555, %p1;"
     "setp.gt.u32 %p2, %r19, 15; vote.sync.ballot.b32 %r9, %p2, %r2;",
     32, [](uint32_t t) { return t % 2 == 1 ? 0xaaaa0000u : 0x55550000u; }},
    {"vote.all of exited lanes asks those that are left",
     "setp.lt.u32 %p1, %r19, 5; mov.u32 %r9, 9; @%p1 exit; setp.ge.u32 %p2, %r19, 5;"
     "vote.sync.all.pred %p3, %p2, -1; selp.u32 %r9, 1, 0, %p3;",
     32, [](uint32_t t) { return t < 5 ? 0u : 1u; }},
    {"vote.uni of one value, either way",
     "setp.lt.u32 %p1, %r19, 32; vote.sync.uni.pred %p2, %p1, -1; vote.sync.uni.pred %p3, !%p1, -1;"
     "and.pred %p2, %p2, %p3; selp.u32 %r9, 1, 0, %p2;",
     32, [](uint32_t) { return 1u; }},
    {"match.all: one lane differs",
     "setp.eq.u32 %p1, %r19, 31; selp.u32 %r1, 1, 2, %p1; match.all.sync.b32 %r9|%p2, %r1, -1;"
     "@%p2 add.u32 %r9, %r9, 7;",
     32, [](uint32_t) { return 0u; }},
    {"match.all: all alike gives the mask",
     "setp.lt.u32 %p1, %r19, 30; @!%p1 bra E; match.all.sync.b32 %r9|%p2, 5, 0x3fffffff; E:", 32,
     [](uint32_t t) { return t < 30 ? 0x3fffffffu : 0u; }},
    {"match.any of 64 bits looks at the upper half",
     "shr.u32 %r1, %r19, 4; mov.b64 %d1, {%r0, %r1}; and.b64 %d1, %d1, 0xffffffff00000000;"
     "match.any.sync.b64 %r9, %d1, -1;",
     32, [](uint32_t t) { return t < 16 ? 0xffffu : 0xffff0000u; }},
    {"redux over a mask that leaves lanes out",
     "setp.ge.u32 %p1, %r19, 24; @!%p1 bra E; redux.sync.min.s32 %r9, %r0, 0xff000000; E:", 32,
     [](uint32_t t) { return t >= 24 ? 24u : 0u; }},
    {"elect takes the lowest lane of the mask",
     "setp.ge.u32 %p1, %r19, 3; @!%p1 bra E; elect.sync %r9|%p2, 0xfffffff8;"
     "@%p2 add.u32 %r9, %r9, 100; E:",
     32, [](uint32_t t) { return t < 3    ? 0u
                                 : t == 3 ? 103u
                                          : 3u; }},
    {"activemask sees the lanes of its path",
     "setp.lt.u32 %p1, %r19, 10; @!%p1 bra E; activemask.b32 %r9; E:", 32,
     [](uint32_t t) { return t < 10 ? 0x3ffu : 0u; }},
    {"bar.red.popc counts the threads that there are, not the lanes",
     "setp.ge.u32 %p1, %r0, 0; bar.red.popc.u32 %r9, 0, %p1;", 40, [](uint32_t) { return 40u; }},
    {"bar.red.and asks the threads that there are",
     "setp.lt.u32 %p1, %r0, 40; bar.red.and.pred %p2, 0, %p1; selp.u32 %r9, 1, 0, %p2;", 40,
     [](uint32_t) { return 1u; }},
    {"bar.red.popc without exited lanes",
     "setp.lt.u32 %p1, %r19, 4; @%p1 exit; setp.ge.u32 %p2, %r0, 0; bar.red.popc.u32 %r9, 0, %p2;",
     64, [](uint32_t t) { return t % 32 < 4 ? 0u : 56u; }},
    {"bar.red.or of a warp that exited whole",
     "setp.lt.u32 %p1, %r0, 32; @%p1 exit; setp.eq.u32 %p2, %r0, 50;"
     "bar.red.or.pred %p3, 0, %p2; selp.u32 %r9, 1, 0, %p3;",
     96, [](uint32_t t) { return t < 32 ? 0u : 1u; }},
    {"two warps at barrier 15, a third at barrier 14 with itself",
     "setp.ge.u32 %p1, %r0, 64; @%p1 bra HIGH; bar.red.popc.u32 %r9, 15, 64, %p1; bra E;"
     "HIGH: bar.red.popc.u32 %r9, 14, 32, %p1; E:",
     96, [](uint32_t t) { return t < 64 ? 0u : 32u; }},
    {"a barrier's number in a register",
     "mov.u32 %r1, 9; mov.u32 %r2, %ntid.x; bar.sync %r1, %r2; mov.u32 %r9, 1;", 64,
     [](uint32_t) { return 1u; }},
    {"the same barrier over and over, with the parity of arrivals",
     "mov.u32 %r9, 0; mov.u32 %r1, 0; L: and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 1;"
     "bar.red.popc.u32 %r3, 0, %p1; add.u32 %r9, %r9, %r3; add.u32 %r1, %r1, 1;"
     "setp.lt.u32 %p2, %r1, 10; @%p2 bra L;",
     64, [](uint32_t) { return 5 * 64u; }},
    {"barrier.sync reached on two paths of a warp",
     "setp.lt.u32 %p1, %r19, 16; @%p1 bra LOW; barrier.sync 1; mov.u32 %r9, 2; bra E;"
     "LOW: barrier.sync 1; mov.u32 %r9, 1; E:",
     64, [](uint32_t t) { return t % 32 < 16 ? 1u : 2u; }},
    {"bar.warp.sync at two places of one mask",
     "setp.lt.u32 %p1, %r19, 16; @%p1 bra LOW; bar.warp.sync -1; mov.u32 %r9, 2; bra E;"
     "LOW: bar.warp.sync -1; mov.u32 %r9, 1; E:",
     32, [](uint32_t t) { return t < 16 ? 1u : 2u; }},
    {"shfl at two places of one mask, each with its source lane",
     "setp.lt.u32 %p1, %r19, 16; @%p1 bra LOW; shfl.sync.idx.b32 %r9, %r0, 3, 31, -1; bra E;"
     "LOW: add.u32 %r1, %r0, 100; shfl.sync.idx.b32 %r9, %r1, 20, 31, -1; E:",
     32, [](uint32_t t) { return t < 16 ? 20u : 103u; }},
    {"shfl with a predicate at three places",
     "setp.lt.u32 %p1, %r19, 8; @%p1 bra A; setp.lt.u32 %p1, %r19, 20; @%p1 bra B;"
     "shfl.sync.up.b32 %r9|%p2, %r0, 8, 0, -1; bra E; A: shfl.sync.up.b32 %r9|%p3, %r0, 8, 0, -1;"
     "not.pred %p2, %p3; bra E; B: shfl.sync.up.b32 %r9|%p2, %r0, 8, 0, -1;"
     "E: @!%p2 add.u32 %r9, %r9, 1000;",
     32, [](uint32_t t) { return t < 8 ? t : t - 8; }},
    {"vote at two places, once negated",
     "setp.lt.u32 %p1, %r19, 16; @%p1 bra LOW; vote.sync.ballot.b32 %r9, !%p1, -1; bra E;"
     "LOW: vote.sync.ballot.b32 %r9, %p1, -1; E:",
     32, [](uint32_t) { return 0xffffffffu; }},
    {"match of 64 bits at two places",
     "setp.lt.u32 %p1, %r19, 16; and.b32 %r1, %r19, 1; mov.b64 %d1, {0, %r1}; @%p1 bra LOW;"
     "match.any.sync.b64 %r9, %d1, -1; bra E; LOW: match.any.sync.b64 %r9, %d1, -1; E:",
     32, [](uint32_t t) { return t % 2 == 1 ? 0xaaaaaaaau : 0x55555555u; }},
    {"redux at two places",
     "setp.lt.u32 %p1, %r19, 5; @%p1 bra LOW; redux.sync.add.u32 %r9, 2, -1; bra E;"
     "LOW: redux.sync.add.u32 %r9, 1, -1; E:",
     32, [](uint32_t) { return 5 + 2 * 27u; }},
    {"two masks at two places, each in two parts",
     "setp.lt.u32 %p1, %r19, 16; and.b32 %r1, %r19, 1; setp.eq.u32 %p2, %r1, 1;"
     "selp.b32 %r2, 0xaaaaaaaa, 0x55555555, %p2; @%p1 bra LOW;"
     "redux.sync.add.u32 %r9, %r19, %r2; bra E; LOW: redux.sync.add.u32 %r9, %r19, %r2; E:",
     32, [](uint32_t t) { return t % 2 == 1 ? 256u : 240u; }},
};

TEST(CollectivesTest, CornerCasesUnderEverySeed) {
  for (const Row& row : kRows) {
    const std::string body = absl::StrCat(
        "mov.u32 %r0, %tid.x; and.b32 %r19, %r0, 31; mov.u32 %r9, 0;\n", row.body,
        "\nmul.wide.u32 %d20, %r0, 4; add.u64 %d21, %d31, %d20; st.global.u32 [%d21], %r9;");
    const auto module = Parsed(KernelText(body));
    ASSERT_NE(module, nullptr) << row.what;
    for (const uint64_t seed : {0, 1, 2, 3, 4, 5, 6, 7}) {
      Gpu gpu(Machine{.sms = 1}, {.seed = seed, .host_threads = 1});
      const uint64_t out = Upload(gpu, std::vector<uint32_t>(row.threads), "out");
      const auto status = gpu.Launch(*module, {.entry = "k", .block = {row.threads, 1, 1}},
                                     Packed().Add(out).Add(out).bytes());
      ASSERT_TRUE(status.ok()) << row.what << ": " << status;
      const auto got = Download<uint32_t>(gpu, out, row.threads);
      for (uint32_t t = 0; t < row.threads; ++t) {
        EXPECT_EQ(got[t], row.want(t)) << row.what << ", thread " << t << ", seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace onepass::sim
