#include "runtime/sim/gpu.h"

#include <cmath>

#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// out[i] = in[i], 4 bytes a thread; further parameters change where thread i reads and writes:
// element (i * stride + shift).
constexpr char kCopy[] = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry copy(.param .u64 in, .param .u64 out, .param .u32 stride, .param .u32 n)
{
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [stride]; ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r6, %r3, %r4, %r5;
  mul.lo.s32 %r7, %r6, %r1;
  setp.ge.u32 %p1, %r7, %r2; @%p1 bra END;
  mul.wide.u32 %d3, %r7, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
  ld.global.u32 %r8, [%d4];
  st.global.u32 [%d5], %r8;
END:
  ret;
}
)";

// Reads n elements, past L1, each once.
constexpr char kStream[] = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry stream(.param .u64 in, .param .u32 n)
{
  .reg .pred %p<3>; .reg .b32 %r<12>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [in]; ld.param.u32 %r1, [n];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.s32 %r6, %r3, %r4, %r5;
  mov.u32 %r7, %nctaid.x; mul.lo.s32 %r8, %r7, %r4;
  mov.u32 %r9, %r6;
FIRST:
  setp.ge.u32 %p1, %r9, %r1; @%p1 bra END;
  mul.wide.u32 %d2, %r9, 4; add.s64 %d3, %d1, %d2; ld.global.cg.u32 %r10, [%d3];
  add.u32 %r9, %r9, %r8; bra FIRST;
END:
  ret;
}
)";

struct Copied {
  Counts counts;
  std::vector<uint32_t> out;
};

Copied Copy(uint32_t n, uint32_t stride, int64_t misalign, int host_threads = 1) {
  Gpu gpu(Machine{}, GpuOptions{.host_threads = host_threads});
  const auto module = Parsed(kCopy);
  std::vector<uint32_t> in(n);
  for (uint32_t i = 0; i < n; ++i) in[i] = i * 7;
  const uint64_t from = *gpu.memory().Allocate(4 * n, 256, misalign, "x", 4);
  const uint64_t to = *gpu.memory().Allocate(4 * n, 256, misalign, "y", 4);
  EXPECT_TRUE(gpu.memory().Write(from, in.data(), 4 * n).ok());
  const uint32_t blocks = (n / stride + 255) / 256;
  const LaunchShape shape{.entry = "copy", .grid = {blocks, 1, 1}, .block = {256, 1, 1}};
  const auto status =
      gpu.Launch(*module, shape, Packed().Add(from).Add(to).Add(stride).Add(n).bytes());
  EXPECT_TRUE(status.ok()) << status;
  Copied result{gpu.TakeCounts(), Download<uint32_t>(gpu, to, n)};
  return result;
}

TEST(GpuTest, CopyReadsAndWritesItsBytesOnce) {
  constexpr int64_t kBytes = 4 << 20;
  const auto [counts, out] = Copy(kBytes / 4, 1, 0);
  EXPECT_EQ(counts.dram_read_bytes, kBytes);
  EXPECT_EQ(counts.dram_write_bytes, kBytes);
  EXPECT_EQ(counts.l2_read_bytes, kBytes);
  EXPECT_EQ(counts.l2_write_bytes, kBytes);
  EXPECT_EQ(counts.sectors_requested, 2 * kBytes / 32);
  EXPECT_EQ(counts.sector_efficiency(), 1.0);
  EXPECT_EQ(out[12345], 12345u * 7);
}

TEST(GpuTest, MisalignedCopyMovesTheSameBytesThroughDram) {
  constexpr int64_t kBytes = 1 << 20;
  const Counts counts = Copy(kBytes / 4, 1, 4).counts;
  // One sector more at either end; the two half-written ones at the ends are filled by a read.
  EXPECT_EQ(counts.dram_read_bytes, kBytes + 32 + 64);
  EXPECT_EQ(counts.dram_write_bytes, kBytes + 32);
  EXPECT_NEAR(counts.sector_efficiency(), 0.8, 1e-9);  // 128 bytes touch 5 sectors
}

TEST(GpuTest, StridedAccessWastesItsSectors) {
  constexpr uint32_t kCount = 1 << 18;
  const Counts counts = Copy(kCount, 16, 0).counts;  // 4 bytes of every 64
  const int64_t sectors = kCount / 16;
  EXPECT_EQ(counts.dram_write_bytes, sectors * 32);
  EXPECT_EQ(counts.dram_read_bytes, 2 * sectors * 32);  // partly written sectors cost a fill
  EXPECT_EQ(counts.sector_efficiency(), 4.0 / 32);
}

TEST(GpuTest, CountsDoNotDependOnHostThreads) {
  const Counts one = Copy(3000000, 3, 4, 1).counts;
  const Counts two = Copy(3000000, 3, 4, 2).counts;
  const Counts three = Copy(3000000, 3, 4, 3).counts;
  EXPECT_EQ(one, two) << one.ToString() << "\n" << two.ToString();
  EXPECT_EQ(one, three);
}

Counts ReadPasses(int64_t bytes, int passes) {
  Machine machine;
  machine.l2_bytes = 4 << 20;
  Gpu gpu(machine, GpuOptions{.host_threads = 1});
  const auto module = Parsed(kStream);
  const uint64_t in = *gpu.memory().Allocate(bytes, 256, 0, "x", 4);
  const LaunchShape shape{.entry = "stream", .grid = {132, 1, 1}, .block = {256, 1, 1}};
  for (int i = 0; i < passes; ++i) {
    const auto status =
        gpu.Launch(*module, shape, Packed().Add(in).Add(static_cast<uint32_t>(bytes / 4)).bytes());
    EXPECT_TRUE(status.ok()) << status;
  }
  return gpu.TakeCounts();
}

TEST(GpuTest, WhatFitsIntoL2IsReadFromDramOnce) {
  EXPECT_EQ(ReadPasses(2 << 20, 2).dram_read_bytes, 2 << 20);
}

TEST(GpuTest, TwiceTheL2ForwardTwiceIsReadTwice) {
  EXPECT_EQ(ReadPasses(8 << 20, 2).dram_read_bytes, 16 << 20);
}

std::shared_ptr<const Module> Stream(const std::string& before, const std::string& load) {
  std::string text = kStream;
  text.replace(text.find("  mov.u32 %r9, %r6;"), 0, before);
  text.replace(text.find("ld.global.cg.u32 %r10, [%d3];"), 29, load);
  return Parsed(text);
}

// A's half of L2, then B's two L2, then A's half again: megabytes read from DRAM.
int64_t ReadAroundAStream(const Module& a, const Module& b) {
  Machine machine;
  machine.l2_bytes = 4 << 20;
  Gpu gpu(machine, GpuOptions{.host_threads = 1});
  const uint64_t held = *gpu.memory().Allocate(2 << 20, 256, 0, "a", 4);
  const uint64_t stream = *gpu.memory().Allocate(8 << 20, 256, 0, "b", 4);
  const LaunchShape shape{.entry = "stream", .grid = {132, 1, 1}, .block = {256, 1, 1}};
  const auto of_a = Packed().Add(held).Add(uint32_t{1 << 19}).bytes();
  const auto of_b = Packed().Add(stream).Add(uint32_t{1 << 21}).bytes();
  EXPECT_TRUE(gpu.Launch(a, shape, of_a).ok());
  EXPECT_TRUE(gpu.Launch(b, shape, of_b).ok());
  EXPECT_TRUE(gpu.Launch(a, shape, of_a).ok());
  return gpu.TakeCounts().dram_read_bytes >> 20;
}

TEST(GpuTest, PoliciesSteerL2AsModifiersDo) {
  const std::string load = "ld.global.L2::cache_hint.u32 %r10, [%d3], %d7;";
  const auto policy = [&](const std::string& name) {
    return Stream("createpolicy.fractional.L2::" + name + ".b64 %d7, 1.0;", load);
  };
  const auto plain = Stream("", "ld.global.u32 %r10, [%d3];");
  EXPECT_EQ(ReadAroundAStream(*plain, *plain), 12);
  EXPECT_EQ(ReadAroundAStream(*plain, *Stream("", "ld.global.L2::evict_first.u32 %r10, [%d3];")),
            10);
  EXPECT_EQ(ReadAroundAStream(*plain, *policy("evict_first")), 10);
  EXPECT_EQ(ReadAroundAStream(*policy("evict_last"), *plain), 10);
  EXPECT_EQ(ReadAroundAStream(*policy("evict_normal"), *policy("evict_normal")), 12);
  // The value that libraries pass without createpolicy.
  EXPECT_EQ(ReadAroundAStream(*plain, *Stream("mov.u64 %d7, 0x12F0000000000000;", load)), 10);
}

TEST(GpuTest, TakeCountsMakesTheNextSequenceCold) {
  Gpu gpu(Machine{}, GpuOptions{.host_threads = 1});
  const auto module = Parsed(kStream);
  const uint64_t in = *gpu.memory().Allocate(1 << 20, 256, 0, "x", 4);
  const auto bytes = Packed().Add(in).Add(uint32_t{1 << 18}).bytes();
  const LaunchShape shape{.entry = "stream", .grid = {8, 1, 1}, .block = {256, 1, 1}};
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(gpu.Launch(*module, shape, bytes).ok());
    const Counts counts = gpu.TakeCounts();
    EXPECT_EQ(counts.dram_read_bytes, 1 << 20);
    EXPECT_EQ(counts.launches, 1);
  }
}

TEST(GpuTest, FaultNamesBufferIndexThreadAndInstruction) {
  Gpu gpu(Machine{}, GpuOptions{.host_threads = 2});
  const auto module = Parsed(kCopy);
  const uint64_t x = Upload(gpu, std::vector<uint32_t>(1000), "x");
  const uint64_t y = Upload(gpu, std::vector<uint32_t>(1024), "y");
  const LaunchShape shape{.entry = "copy", .grid = {4, 1, 1}, .block = {256, 1, 1}};
  const auto status = gpu.Launch(
      *module, shape, Packed().Add(x).Add(y).Add(uint32_t{1}).Add(uint32_t{1024}).bytes());
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("copy: read of 4 bytes out of bounds: x[1000] (byte 4000 of 4000)"),
                    HasSubstr("block (3,0,0) thread (232,0,0)"),
                    HasSubstr("PTX line 12: ld.global.u32 %r8, [%d4]")));
  EXPECT_EQ(gpu.TakeFindings().size(), 1u);
  EXPECT_TRUE(gpu.TakeFindings().empty());
}

TEST(GpuTest, MisalignedAccessIsAFault) {
  const auto result = RunBody("ld.global.u32 %r1, [%d30+2];", std::vector<uint8_t>(16), 4);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("misaligned: in[2] (byte 2 of 16)"));
}

TEST(GpuTest, SharedMemoryEndsWhereTheLaunchSays) {
  const auto result = RunBody("st.shared.u32 [1024], %r1;", {0}, 4);
  EXPECT_EQ(result.status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("out of bounds: shared memory (byte 1024 of 1024)"));
}

TEST(GpuTest, WrongRequestsAreRefusedBeforeAnythingRuns) {
  Gpu gpu(Machine{});
  const auto module = Parsed(kCopy);
  const std::vector<uint8_t> bytes(24);
  const auto launch = [&](LaunchShape shape, size_t size = 24) {
    if (shape.entry.empty()) shape.entry = "copy";
    return gpu.Launch(*module, shape, std::vector<uint8_t>(size)).code();
  };
  const auto wrong = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(launch({.entry = "other"}), wrong);
  EXPECT_EQ(launch({.entry = "copy"}, 23), wrong);
  EXPECT_EQ(launch({.entry = "copy", .block = {1024, 2, 1}}), wrong);
  EXPECT_EQ(launch({.entry = "copy", .grid = {1, 65536, 1}}), wrong);
  EXPECT_EQ(launch({.entry = "copy", .dynamic_shared_bytes = 228 * 1024}), wrong);
  EXPECT_EQ(
      launch({.entry = "copy", .grid = {1057, 1, 1}, .block = {256, 1, 1}, .cooperative = true}),
      wrong);
  // No multiple of the cluster, and a cluster larger than the chip's.
  EXPECT_EQ(launch({.entry = "copy", .cluster = {2, 1, 1}}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(launch({.entry = "copy", .grid = {32, 1, 1}, .cluster = {32, 1, 1}}),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(gpu.TakeCounts().launches, 0);
}

TEST(GpuTest, ResidencyFollowsThreadsRegistersAndSharedMemory) {
  Gpu gpu(Machine{});
  const auto module = Parsed(kCopy);
  const auto resident = [&](const LaunchShape& shape) {
    return *gpu.MaxResidentBlocksPerSm(*module, shape);
  };
  EXPECT_EQ(resident({.entry = "copy", .block = {32, 1, 1}}), 32);
  EXPECT_EQ(resident({.entry = "copy", .block = {256, 1, 1}}), 8);
  EXPECT_EQ(resident({.entry = "copy", .block = {256, 1, 1}, .registers_per_thread = 64}), 4);
  EXPECT_EQ(resident({.entry = "copy", .block = {1024, 1, 1}, .dynamic_shared_bytes = 200 * 1024}),
            1);
}

// A grid barrier: arrive by an atomic, spin on a volatile load.
constexpr char kGridBarrier[] = R"(.version 9.0
.target sm_90
.address_size 64
.visible .entry sync(.param .u64 words, .param .u64 out, .param .u32 wanted)
{
  .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %d<8>;
  ld.param.u64 %d1, [words]; ld.param.u64 %d2, [out]; ld.param.u32 %r9, [wanted];
  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %nctaid.x;
  setp.ne.u32 %p1, %r2, 0; @%p1 bra WAIT;
  mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; st.global.u32 [%d4+4], %r1;
  membar.gl;
  atom.global.add.u32 %r4, [%d1], 1;
SPIN:
  ld.volatile.global.u32 %r5, [%d1]; setp.lt.u32 %p2, %r5, %r9; @%p2 bra SPIN;
WAIT:
  bar.sync 0;
  sub.u32 %r6, %r3, %r1; mul.wide.u32 %d5, %r6, 4; add.s64 %d6, %d1, %d5; ld.global.u32 %r7, [%d6];
  mul.wide.u32 %d3, %r1, 4; add.s64 %d7, %d2, %d3; st.global.u32 [%d7], %r7;
  ret;
}
)";

absl::Status GridBarrier(uint32_t wanted, std::vector<uint32_t>& out) {
  Gpu gpu(Machine{}, GpuOptions{.host_threads = 2});
  const auto module = Parsed(kGridBarrier);
  const uint64_t words = Upload(gpu, std::vector<uint32_t>(133), "words");
  const uint64_t to = Upload(gpu, std::vector<uint32_t>(132), "out");
  const LaunchShape shape{
      .entry = "sync", .grid = {132, 1, 1}, .block = {64, 1, 1}, .cooperative = true};
  const auto status = gpu.Launch(*module, shape, Packed().Add(words).Add(to).Add(wanted).bytes());
  out = Download<uint32_t>(gpu, to, 132);
  return status;
}

TEST(GpuTest, BlocksOfACooperativeGridMeetAtASpinningBarrier) {
  std::vector<uint32_t> out;
  const auto status = GridBarrier(132, out);
  ASSERT_TRUE(status.ok()) << status;
  for (uint32_t i = 0; i < 132; ++i) EXPECT_EQ(out[i], 131 - i);
}

TEST(GpuTest, BarrierForMoreBlocksThanThereAreIsADeadlock) {
  std::vector<uint32_t> out;
  const auto status = GridBarrier(133, out);
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("deadlock"), HasSubstr("132 resident blocks"),
                    HasSubstr("ld.volatile.global.u32")));
}

TEST(GpuTest, AtomicsOfAllBlocksAddUp) {
  Gpu gpu(Machine{}, GpuOptions{.host_threads = 2});
  const auto module = Parsed(KernelText(
      "mov.u32 %r1, 1; red.global.add.u32 [%d31], 1; atom.global.inc.u32 %r2, [%d31+4], 99;"));
  const uint64_t out = Upload(gpu, std::vector<uint32_t>(2), "out");
  const LaunchShape shape{.entry = "k", .grid = {300, 1, 1}, .block = {100, 1, 1}};
  ASSERT_TRUE(gpu.Launch(*module, shape, Packed().Add(out).Add(out).bytes()).ok());
  EXPECT_THAT(Download<uint32_t>(gpu, out, 2), testing::ElementsAre(30000, 0));
  EXPECT_EQ(gpu.TakeCounts().global_atomics, 60000);
}

TEST(GpuTest, BankConflictsAreThePassesBeyondTheFirst) {
  const auto conflicts = [](const char* body) {
    Gpu gpu(Machine{}, GpuOptions{.host_threads = 1});
    const auto module = Parsed(KernelText(std::string("mov.u32 %r0, %tid.x;") + body));
    const uint64_t buffer = Upload(gpu, std::vector<uint32_t>(2), "out");
    const LaunchShape shape{.entry = "k", .block = {32, 1, 1}, .dynamic_shared_bytes = 8192};
    EXPECT_TRUE(gpu.Launch(*module, shape, Packed().Add(buffer).Add(buffer).bytes()).ok());
    const Counts counts = gpu.TakeCounts();
    EXPECT_EQ(counts.shared_accesses, 1);
    return counts.bank_conflicts;
  };
  EXPECT_EQ(conflicts("shl.b32 %r1, %r0, 2; ld.shared.u32 %r2, [%r1];"), 0);
  EXPECT_EQ(conflicts("shl.b32 %r1, %r0, 3; ld.shared.u32 %r2, [%r1];"), 1);
  EXPECT_EQ(conflicts("shl.b32 %r1, %r0, 7; ld.shared.u32 %r2, [%r1];"), 31);
  EXPECT_EQ(conflicts("mul.lo.u32 %r1, %r0, 132; ld.shared.u32 %r2, [%r1];"), 0);
  EXPECT_EQ(conflicts("ld.shared.u32 %r2, [64];"), 0);
  EXPECT_EQ(conflicts("shl.b32 %r1, %r0, 4; ld.shared.v4.u32 {%r2,%r3,%r4,%r5}, [%r1];"), 0);
  EXPECT_EQ(conflicts("shl.b32 %r1, %r0, 4; st.shared.v2.u32 [%r1], {%r2,%r3};"), 2);
}

TEST(GpuTest, BuffersAreFoundByLabelAndFreedOnce) {
  Gpu gpu(Machine{.global_bytes = 1 << 20});
  GlobalMemory& memory = gpu.memory();
  const uint64_t a = *memory.Allocate(100, 256, 4, "scale", 4);
  EXPECT_EQ(a % 256, 4u);
  EXPECT_EQ(memory.Describe(a + 8), "scale[2] (byte 8 of 100)");
  EXPECT_EQ(memory.Describe(a - 4), "scale[-1] (byte -4 of 100)");
  EXPECT_EQ(memory.Allocate(1 << 20, 256, 0, "y").status().code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(memory.Fill(a, 1, 101).code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(memory.Free(a).ok());
  EXPECT_EQ(memory.Free(a).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(memory.allocated_bytes(), 0);
}

}  // namespace
}  // namespace onepass::sim
