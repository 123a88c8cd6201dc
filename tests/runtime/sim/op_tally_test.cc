// Pipe slots and bytes in flight against cases computed by hand.
#include "runtime/sim/op_tally.h"

#include "absl/strings/str_cat.h"
#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

// A kernel over `body`: %d4 is the thread's address in `in`, 16 bytes a thread, %d5 likewise in
// `out`.
std::string Kernel(const std::string& body) {
  return absl::StrCat(R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<3>; .reg .b32 %r<24>; .reg .f32 %f<9>; .reg .f64 %e<9>; .reg .b64 %d<8>;
  .shared .align 16 .b8 tile[8192];
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r6, %r3, %r4, %r5;
  mul.wide.u32 %d3, %r6, 16; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
)",
                      body, "\n ret;\n}\n");
}

constexpr uint32_t kBlocks = 132;
constexpr uint32_t kThreads = 256;
constexpr int64_t kWarps = kBlocks * kThreads / 32;

Counts CountsOf(const std::string& body, Machine machine = {}, int host_threads = 1) {
  Gpu gpu(machine, GpuOptions{.host_threads = host_threads});
  const auto module = Parsed(Kernel(body));
  const int64_t bytes = 16 * kBlocks * kThreads + 4096;
  const uint64_t in = *gpu.memory().Allocate(bytes, 256, 0, "x", 4);
  const uint64_t out = *gpu.memory().Allocate(bytes, 256, 0, "y", 4);
  const LaunchShape shape{.entry = "k", .grid = {kBlocks, 1, 1}, .block = {kThreads, 1, 1}};
  const auto status = gpu.Launch(*module, shape, Packed().Add(in).Add(out).bytes());
  EXPECT_TRUE(status.ok()) << status;
  return gpu.TakeCounts();
}

std::string Repeated(const std::string& line, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) absl::StrAppend(&text, line, "\n");
  return text;
}

// What `line` adds, executed 100 times by every warp.
Counts Added(const std::string& line, const Machine& machine = {}) {
  Counts counts = CountsOf(Repeated(line, 100), machine);
  const Counts none = CountsOf("", machine);
  counts.issue_slots -= none.issue_slots;
  counts.alu_slots -= none.alu_slots;
  counts.fma_slots -= none.fma_slots;
  counts.fp64_slots -= none.fp64_slots;
  counts.special_slots -= none.special_slots;
  counts.lsu_slots -= none.lsu_slots;
  return counts;
}

TEST(PipesTest, EachFormTakesTheSlotsOfItsRow) {
  constexpr int64_t kOnce = 100 * 100 * kWarps;
  const Counts fma = Added("fma.rn.f32 %f1, %f1, %f1, %f1;");
  EXPECT_EQ(fma.fma_slots, kOnce);
  EXPECT_EQ(fma.issue_slots, kOnce);
  EXPECT_EQ(fma.alu_slots, 0);
  const Counts exp = Added("ex2.approx.ftz.f32 %f1, %f1;");
  EXPECT_EQ(exp.special_slots, kOnce);
  EXPECT_EQ(exp.fma_slots, 0);
  EXPECT_EQ(Added("add.rn.f64 %e1, %e1, %e1;").fp64_slots, kOnce);
  EXPECT_EQ(Added("xor.b32 %r1, %r1, %r2;").alu_slots, kOnce);
  const Counts store = Added("st.shared.u32 [tile], %r1;");
  EXPECT_EQ(store.lsu_slots, kOnce);
  const Counts division = Added("div.rn.f32 %f1, %f2, %f3;");
  EXPECT_EQ(division.special_slots, kOnce);
  EXPECT_EQ(division.issue_slots, 10 * kOnce);  // its slow path is not counted
}

// One block of 8 warps an SM, 4000 instructions a warp: 8 * 4000 * 32 lanes.
double Clocks(const std::string& line, const Machine& machine = {}) {
  const Counts counts = CountsOf(Repeated(line, 4000), machine);
  return counts.pipe_us() * machine.clock_ghz * 1000;
}

TEST(PipesTest, TheSlowestPipeIsTheTime) {
  constexpr double kLanes = 8 * 4000 * 32;
  EXPECT_NEAR(Clocks("fma.rn.f32 %f1, %f1, %f1, %f1;"), kLanes / 128, 0.02 * kLanes / 128);
  EXPECT_NEAR(Clocks("fma.rn.f32 %f1, %f1, %f1, %f1;", Machine{.fma_lanes = 64}), kLanes / 64,
              0.01 * kLanes / 64);
  EXPECT_NEAR(Clocks("xor.b32 %r1, %r1, %r2;"), kLanes / 64, 0.02 * kLanes / 64);
  EXPECT_NEAR(Clocks("tanh.approx.f32 %f1, %f1;"), kLanes / 16, 0.01 * kLanes / 16);
  EXPECT_NEAR(Clocks("add.rn.f64 %e1, %e1, %e1;", Machine{.fp64_lanes = 32}), kLanes / 32,
              0.01 * kLanes / 32 + kLanes / 32 * 0.2);
}

// Lane i reads word `step` * i.
Counts SharedReads(int step) {
  return CountsOf(absl::StrCat("and.b32 %r7, %r5, 31; mul.lo.u32 %r7, %r7, ", 4 * step,
                               "; mov.u32 %r8, tile; add.u32 %r7, %r7, %r8;",
                               Repeated("ld.shared.u32 %r1, [%r7];", 100)));
}

TEST(PipesTest, BankConflictsTakeTheLoadStorePipeAgain) {
  const Counts none = SharedReads(1);
  EXPECT_EQ(none.bank_conflicts, 0);
  EXPECT_EQ(SharedReads(0).bank_conflicts, 0);   // a broadcast
  EXPECT_EQ(SharedReads(33).bank_conflicts, 0);  // padded rows
  EXPECT_EQ(SharedReads(2).bank_conflicts, 100 * kWarps);
  const Counts all = SharedReads(32);
  EXPECT_EQ(all.bank_conflicts, 31 * 100 * kWarps);
  EXPECT_EQ(all.lsu_slots - none.lsu_slots, 100 * all.bank_conflicts);
  EXPECT_GT(all.pipe_us(), 20 * none.pipe_us());
}

constexpr int64_t kWarpsPerSm = kThreads / 32;  // one block an SM

TEST(BytesInFlightTest, LoadsAreInFlightUntilOneOfThemIsRead) {
  const std::string use = "xor.b32 %r8, %r8, %r12; st.global.u32 [%d5], %r8;";
  const std::string four = "ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%d4];";
  const std::string next = "ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%d4+4096];";
  EXPECT_EQ(CountsOf(absl::StrCat(four, use)).bytes_in_flight_per_sm(), 512 * kWarpsPerSm);
  EXPECT_EQ(CountsOf(absl::StrCat(four, next, use)).bytes_in_flight_per_sm(), 1024 * kWarpsPerSm);
  const std::string read = "mov.u32 %r20, %r9;";
  EXPECT_EQ(CountsOf(absl::StrCat(four, read, next, use)).bytes_in_flight_per_sm(),
            512 * kWarpsPerSm);
  EXPECT_EQ(CountsOf(use).bytes_in_flight_per_sm(), 0);
}

TEST(BytesInFlightTest, ABroadcastIsTheBytesOfOneLane) {
  const Counts counts = CountsOf("ld.global.u32 %r8, [%d1]; st.global.u32 [%d5], %r8;");
  EXPECT_EQ(counts.loaded_bytes, 4 * kWarps);
  EXPECT_EQ(counts.bytes_in_flight_per_sm(), 4 * kWarpsPerSm);
  EXPECT_EQ(counts.sectors_requested, kWarps + 16 * kWarps);  // a sector a load, 16 a store
  EXPECT_EQ(counts.l2_read_bytes, 32 * kBlocks);              // L1 has it for the other warps
  EXPECT_EQ(counts.dram_read_bytes, 32 + 32 * 16 * kWarps);   // and fills of what is partly written
}

// Two blocks of an SM read the same line: once from L2. (Two waves of blocks read it no more.)
TEST(BytesInFlightTest, BlocksOfAnSmShareItsL1) {
  const Counts counts = CountsOf("ld.global.u32 %r8, [%d1];", Machine{.sms = 11});
  EXPECT_EQ(counts.l2_read_bytes, 32 * 11);
}

TEST(BytesInFlightTest, ALoopHasOneRoundInFlight) {
  const Counts counts = CountsOf(R"(mov.u32 %r9, 0; mov.u32 %r8, 0;
LOOP:
  ld.global.u32 %r10, [%d4]; ld.global.u32 %r11, [%d4+4];
  add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 10; @%p1 bra LOOP;
  st.global.u32 [%d5], %r10;)");
  EXPECT_EQ(counts.loaded_bytes, 2 * 128 * 10 * kWarps);
  EXPECT_EQ(counts.bytes_in_flight_per_sm(), 256 * kWarpsPerSm);
}

TEST(BytesInFlightTest, TheSameOnAnyNumberOfHostThreads) {
  const std::string body = "ld.global.u32 %r8, [%d4]; ex2.approx.ftz.f32 %f1, %f1;";
  EXPECT_EQ(CountsOf(body, {}, 1), CountsOf(body, {}, 2));
}

}  // namespace
}  // namespace onepass::sim
