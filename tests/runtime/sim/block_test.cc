#include "runtime/sim/block.h"

#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Message(const absl::StatusOr<std::vector<uint8_t>>& result) {
  return std::string(result.status().message());
}

// shared[tid] = tid; then out[tid] = shared[threads - 1 - tid].
constexpr char kReverse[] = R"(
    .shared .align 4 .b8 buffer[512];
    mov.u32 %r0, %tid.x; mov.u32 %r1, %ntid.x; shl.b32 %r2, %r0, 2; mov.u32 %r3, buffer;
    add.u32 %r4, %r3, %r2; st.shared.u32 [%r4], %r0;
    bar.sync 0;
    sub.u32 %r5, %r1, %r0; shl.b32 %r5, %r5, 2; add.u32 %r5, %r3, %r5; ld.shared.u32 %r9, [%r5+-4];
    mul.wide.u32 %d20, %r0, 4; add.u64 %d21, %d31, %d20; st.global.u32 [%d21], %r9;)";

TEST(BlockTest, BarrierSeparatesStoresFromLoads) {
  const auto out = Outputs<uint32_t>(kReverse, std::vector<uint32_t>{0}, 128, 128);
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], 127 - i);
}

TEST(BlockTest, BarrierReductionsCountThePredicates) {
  const auto out = Outputs<uint32_t>(R"(
    mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 40; bar.red.popc.u32 %r1, 0, %p1;
    bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, !%p1;
    selp.u32 %r2, 1000, 0, %p2; selp.u32 %r3, 2000, 0, %p3; add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
    mul.wide.u32 %d20, %r0, 4; add.u64 %d21, %d31, %d20; st.global.u32 [%d21], %r1;)",
                                     std::vector<uint32_t>{0}, 64, 64);
  EXPECT_THAT(out, Each(2040u));
}

TEST(BlockTest, NamedBarrierWithProducersAndConsumers) {
  // Warp 0 waits for warp 1, which only arrives.
  const auto out = Outputs<uint32_t>(R"(
    .shared .u32 word;
    mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 32; @%p1 bra PRODUCER;
    bar.sync 1, 64; ld.shared.u32 %r1, [word]; st.global.u32 [%d31], %r1; bra END;
    PRODUCER: st.shared.u32 [word], 42; bar.arrive 1, 64;
    END:)",
                                     std::vector<uint32_t>{0}, 1, 64);
  EXPECT_THAT(out, ElementsAre(42));
}

TEST(BlockTest, WarpsThatExitedAreNotWaitedFor) {
  const auto out = Outputs<uint32_t>(R"(
    mov.u32 %r0, %tid.x; setp.ge.u32 %p1, %r0, 32; @%p1 bra END;
    bar.sync 0; st.global.u32 [%d31], 1;
    END:)",
                                     std::vector<uint32_t>{0}, 1, 96);
  EXPECT_THAT(out, ElementsAre(1));
}

TEST(BlockTest, DivergentBarrierIsAFault) {
  const auto result = RunBody(R"(
    mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW;
    bar.sync 0; bra END;
    LOW: bar.sync 0;
    END:)",
                              {0}, 4, 32);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(Message(result), AllOf(HasSubstr("divergent barrier"), HasSubstr("PTX line")));
}

TEST(BlockTest, UnalignedBarrierMayBeReachedOnTwoPaths) {
  const auto out = Outputs<uint32_t>(R"(
    mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 16; @%p1 bra LOW;
    barrier.sync 0; bra END;
    LOW: barrier.sync 0;
    END: st.global.u32 [%d31], 9;)",
                                     std::vector<uint32_t>{0}, 1, 64);
  EXPECT_THAT(out, ElementsAre(9));
}

TEST(BlockTest, BarriersThatNobodyCompletesAreADeadlock) {
  const auto result = RunBody(R"(
    mov.u32 %r0, %tid.x; setp.lt.u32 %p1, %r0, 32; @%p1 bra FIRST;
    bar.sync 1, 64; bra END;
    FIRST: bar.sync 2, 64;
    END:)",
                              {0}, 4, 64);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(Message(result), AllOf(HasSubstr("deadlock"), HasSubstr("warp 0"),
                                     HasSubstr("warp 1"), HasSubstr("bar.sync 2, 64")));
}

TEST(BlockTest, EndlessLoopEndsAtTheInstructionLimit) {
  const auto result = RunBody("L: add.u32 %r1, %r1, 1; bra L;", {0}, 4, 32);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(Message(result), HasSubstr("endless loop"));
}

TEST(BlockTest, TrapNamesBlockThreadAndLine) {
  const auto result =
      RunBody("mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 37; @%p1 trap;", {0}, 4, 64);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kAborted);
  EXPECT_THAT(Message(result), AllOf(HasSubstr("k: trap"), HasSubstr("thread (37,0,0)"),
                                     HasSubstr("block (0,0,0)"), HasSubstr("@%p1 trap")));
}

TEST(BlockTest, LocalMemoryBelongsToTheThread) {
  const auto out = Outputs<uint32_t>(R"(
    .local .align 4 .b8 depot[64];
    mov.u32 %r0, %tid.x; mov.u64 %d1, depot; cvta.local.u64 %d2, %d1;
    and.b32 %r1, %r0, 15; mul.wide.u32 %d3, %r1, 4; add.u64 %d4, %d1, %d3; add.u64 %d5, %d2, %d3;
    st.local.u32 [%d4], %r0; ld.u32 %r9, [%d5];
    mul.wide.u32 %d20, %r0, 4; add.u64 %d21, %d31, %d20; st.global.u32 [%d21], %r9;)",
                                     std::vector<uint32_t>{0}, 64, 64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i);
}

}  // namespace
}  // namespace onepass::sim
