#include "runtime/sim/warp.h"

#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// out[tid] = %r9
constexpr char kStoreByThread[] =
    "\nmov.u32 %r20, %tid.x; mul.wide.u32 %d20, %r20, 4; add.u64 %d21, %d31, %d20;\n"
    "st.global.u32 [%d21], %r9;";

std::vector<uint32_t> ByThread(const std::string& body, uint32_t threads = 32) {
  return Outputs<uint32_t>("mov.u32 %r0, %tid.x;\n" + body + kStoreByThread,
                           std::vector<uint32_t>{0}, threads, threads);
}

TEST(WarpTest, BothSidesOfABranchExecuteAndMeetAgain) {
  const auto out = ByThread(R"(
    and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;
    @%p1 bra EVEN; mov.u32 %r9, 100; bra JOIN;
    EVEN: mov.u32 %r9, 200;
    JOIN: activemask.b32 %r2; popc.b32 %r3, %r2; add.u32 %r9, %r9, %r3;)");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 == 0 ? 232u : 132u);
}

TEST(WarpTest, LoopsOfDifferentLengthMeetBehindTheLoop) {
  const auto out = ByThread(R"(
    mov.u32 %r9, 0; mov.u32 %r1, 0;
    LOOP: setp.ge.u32 %p1, %r1, %r0; @%p1 bra OUT;
    add.u32 %r9, %r9, %r1; add.u32 %r1, %r1, 1; bra LOOP;
    OUT: activemask.b32 %r2; setp.eq.u32 %p2, %r2, -1; @%p2 add.u32 %r9, %r9, 1000;)");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i * (i - 1) / 2 + 1000);
}

TEST(WarpTest, ColdCodeBehindTheReturnStillMeets) {
  const auto out = ByThread(R"(
    mov.u32 %r9, 1; setp.lt.u32 %p1, %r0, 4; @%p1 bra COLD;
    BACK: activemask.b32 %r2; popc.b32 %r3, %r2; add.u32 %r9, %r9, %r3; bra STORE;
    COLD: add.u32 %r9, %r9, 50; bra BACK;
    STORE:)");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 4 ? 83u : 33u);
}

TEST(WarpTest, SyncOperationsWaitForTheLanesOfTheirMask) {
  // The lanes come to the shuffle on two paths; each adds its own value first.
  const auto out = ByThread(R"(
    mov.u32 %r9, %r0; setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW;
    add.u32 %r9, %r9, 1000;
    LOW: shfl.sync.bfly.b32 %r9|%p2, %r9, 31, 31, -1;)");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 31u - i + (31 - i >= 16 ? 1000 : 0));
}

TEST(WarpTest, ExitedLanesAreNotWaitedFor) {
  const auto out = ByThread(R"(
    mov.u32 %r9, 5; setp.lt.u32 %p1, %r0, 8; @%p1 exit;
    vote.sync.ballot.b32 %r9, %p1, -1; not.b32 %r9, %r9;
    bar.warp.sync -1; bar.sync 0;)");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 8 ? 0u : ~0u);
}

TEST(WarpTest, ASpinningLaneDoesNotStarveItsSibling) {
  // Lane 1 spins until lane 0, on the other path, has stored.
  const auto out = Outputs<uint32_t>(R"(
    mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0; @%p1 bra SETTER;
    SPIN: ld.volatile.global.u32 %r1, [%d31]; setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN; bra END;
    SETTER: st.volatile.global.u32 [%d31], 1;
    END:)",
                                     std::vector<uint32_t>{0}, 1, 2);
  EXPECT_THAT(out, ElementsAre(1));
}

TEST(WarpTest, ASpinOnSharedMemoryDoesNotStarveOtherWarps) {
  const auto out = Outputs<uint32_t>(R"(
    .shared .u32 flag;
    mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 32; @%p1 bra SETTER;
    SPIN: ld.volatile.shared.u32 %r1, [flag]; setp.eq.u32 %p2, %r1, 0; @%p2 bra SPIN; bra END;
    SETTER: st.volatile.shared.u32 [flag], 1; st.global.u32 [%d31], 3;
    END:)",
                                     std::vector<uint32_t>{0}, 1, 64);
  EXPECT_THAT(out, ElementsAre(3));
}

TEST(WarpTest, LanesThatWaitForEachOtherAreADeadlock) {
  const auto result = RunBody(R"(
    mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW;
    shfl.sync.idx.b32 %r1|%p2, %r0, 0, 31, -1; bra END;
    LOW: bar.sync 0;
    END:)",
                              {0}, 4, 32);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("wait elsewhere"));
}

TEST(WarpTest, ShuffleStopsAtItsSegment) {
  const auto up =
      ByThread("shfl.sync.up.b32 %r9|%p1, %r0, 3, 0x1800, -1; @!%p1 add.u32 %r9, %r9, 500;");
  const auto down =
      ByThread("shfl.sync.down.b32 %r9|%p1, %r0, 3, 0x181f, -1; @!%p1 add.u32 %r9, %r9, 500;");
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(up[i], i % 8 >= 3 ? i - 3 : i + 500);
    EXPECT_EQ(down[i], i % 8 + 3 < 8 ? i + 3 : i + 500);
  }
}

TEST(WarpTest, VotesMatchesAndReductionsSeeTheirMaskOnly) {
  EXPECT_THAT(ByThread("setp.gt.u32 %p1, %r0, 29; vote.sync.ballot.b32 %r9, %p1, -1;"),
              Each(0xc0000000u));
  EXPECT_THAT(ByThread("redux.sync.add.u32 %r9, %r0, -1;"), Each(496u));
  EXPECT_THAT(ByThread("neg.s32 %r1, %r0; redux.sync.min.s32 %r9, %r1, -1;"), Each(-31));
  const auto match = ByThread("and.b32 %r1, %r0, 3; match.any.sync.b32 %r9, %r1, -1;");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(match[i], 0x11111111u << (i % 4));
  const auto halves = ByThread(R"(
    setp.lt.u32 %p1, %r0, 16; selp.b32 %r1, 0xffff, 0xffff0000, %p1;
    redux.sync.max.u32 %r9, %r0, %r1;)");
  for (int i = 0; i < 32; ++i) EXPECT_EQ(halves[i], i < 16 ? 15u : 31u);
}

}  // namespace
}  // namespace onepass::sim
