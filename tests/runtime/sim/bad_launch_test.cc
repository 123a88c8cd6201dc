// Launches that cannot go well, and kernels that do wrong: one error of one line each. Most are
// what the fuzzer found, made small; tests/runtime/sim/fuzz.
#include <climits>

#include "absl/strings/str_cat.h"
#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

using testing::HasSubstr;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

// A launch of KernelText(body), without traffic where `options` says so.
absl::Status Launched(const std::string& body, LaunchShape shape, GpuOptions options = {},
                      const std::string& before = "") {
  const auto module = Parsed(KernelText(body, before));
  if (module == nullptr) return absl::InternalError("not parsed");
  if (shape.entry.empty()) shape.entry = "k";
  Gpu gpu(Machine{}, options);
  const uint64_t in = Upload(gpu, std::vector<uint32_t>(1024), "in");
  const uint64_t out = Upload(gpu, std::vector<uint32_t>(1024), "out");
  return gpu.Launch(*module, shape, Packed().Add(in).Add(out).bytes());
}

void ExpectIs(const absl::Status& status, absl::StatusCode code, const std::string& message) {
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(std::string(status.message()), message);
}

TEST(BadLaunchTest, WrongEntryAndArguments) {
  ExpectIs(Launched("", {.entry = "other"}), kInvalid, "no kernel 'other' in the module");
  Gpu gpu(Machine{});
  const auto module = Parsed(KernelText(""));
  ExpectIs(gpu.Launch(*module, {.entry = "k"}, std::vector<uint8_t>(8)), kInvalid,
           "k: 8 bytes of parameters, 16 are expected");
  ExpectIs(gpu.Launch(*module, {.entry = "k"}, std::vector<uint8_t>(24)), kInvalid,
           "k: 24 bytes of parameters, 16 are expected");
}

TEST(BadLaunchTest, GridsAndBlocksThatAreTooLarge) {
  ExpectIs(Launched("", {.entry = "k", .grid = {1, 65536, 1}}), kInvalid,
           "k: grid axis 1 is 65536, not in 1..65535");
  ExpectIs(Launched("", {.entry = "k", .grid = {0x80000000u, 1, 1}}), kInvalid,
           "k: grid axis 0 is 2147483648, not in 1..2147483647");
  ExpectIs(Launched("", {.entry = "k", .grid = {0, 1, 1}}), kInvalid,
           "k: grid axis 0 is 0, not in 1..2147483647");
  ExpectIs(Launched("", {.entry = "k", .block = {1024, 2, 1}}), kInvalid,
           "k: 2048 threads a block, at most 1024 are allowed");
  ExpectIs(Launched("", {.entry = "k", .block = {1, 1, 65}}), kInvalid, "k: block axis 2 is 65");
}

TEST(BadLaunchTest, ResourcesOfAnySize) {
  for (const int64_t bytes : {int64_t{-1}, INT64_MAX, INT64_MIN}) {
    ExpectIs(Launched("", {.entry = "k", .dynamic_shared_bytes = bytes}), kInvalid,
             absl::StrCat("k: 0 and ", bytes,
                          " bytes of static and dynamic shared memory a block, h200 has 232448"));
  }
  ExpectIs(Launched("", {.entry = "k", .block = {64, 1, 1}, .registers_per_thread = INT_MAX}),
           kInvalid, "k: 64 threads of 2147483647 registers are more than an SM's 65536 registers");
  ExpectIs(Launched(".local .b8 x[1000000]; st.local.u8 [x], 1;",
                    {.entry = "k", .grid = {132, 1, 1}, .block = {1024, 1, 1}}),
           absl::StatusCode::kResourceExhausted,
           "k: 132 resident blocks of 32 warps need 128907 MB for 1000000 bytes of local memory a "
           "thread, registers and shared memory; 8192 MB are allowed");
  const auto large = Launched("", {}, {}, ".global .b8 x[4294967296];\n");
  EXPECT_TRUE(large.ok()) << large;
}

TEST(BadLaunchTest, VariablesThatDoNotFitLeaveNothingBehind) {
  Gpu gpu(Machine{.global_bytes = 1 << 20});
  const auto module = Parsed(KernelText("", ".global .b8 x[1000000];\n.global .b8 y[1000000];\n"));
  ExpectIs(gpu.Launch(*module, {.entry = "k"}, std::vector<uint8_t>(16)),
           absl::StatusCode::kResourceExhausted,
           "out of device memory: 'y' needs 1000000 bytes, 48576 of 1048576 are free");
  EXPECT_EQ(gpu.memory().allocated_bytes(), 0);
}

TEST(BadLaunchTest, AddressesOutOfRange) {
  ExpectIs(Launched("ld.global.u32 %r1, [%d30+4096];", {}), absl::StatusCode::kOutOfRange,
           "k: read of 4 bytes out of bounds: in[1024] (byte 4096 of 4096), block (0,0,0) thread "
           "(0,0,0) at PTX line 9: ld.global.u32 %r1, [%d30+4096]");
  ExpectIs(Launched("mov.u64 %d1, 0; ld.global.u32 %r1, [%d1];", {}), absl::StatusCode::kOutOfRange,
           "k: read of 4 bytes out of bounds: address 0x0 (no buffer), block (0,0,0) thread "
           "(0,0,0) at PTX line 9: ld.global.u32 %r1, [%d1]");
}

TEST(BadLaunchTest, SharedFaultsNameTheNearestArray) {
  const std::string arrays = ".shared .align 8 .u32 a[2]; .shared .align 8 .u32 b[4];";
  for (const bool sanitize : {false, true}) {
    const auto message = [&](const std::string& body) {
      return std::string(Launched(arrays + body, {.entry = "k"}, {.sanitize = sanitize}).message());
    };
    EXPECT_THAT(message("mov.u32 %r1, a; mov.u32 %r1, b; st.shared.u32 [%r1+4096], 1;"),
                testing::HasSubstr("out of bounds: shared memory b[1024] (byte 4104 of 24)"));
    EXPECT_THAT(message("mov.u32 %r1, a; mov.u32 %r1, b; ld.shared.u32 %r2, [%r1+2];"),
                testing::HasSubstr("misaligned: shared memory b[0] (byte 10 of 24)"));
    EXPECT_THAT(message("mov.u32 %r1, a; mov.u32 %r2, b; st.shared.u32 [%r1+-4], 1;"),
                testing::HasSubstr("out of bounds: shared memory a[-1] (byte -4 of 24)"));
  }
}

TEST(BadLaunchTest, ABarrierCountsWholeWarps) {
  ExpectIs(Launched("bar.sync 1, 40;", {.entry = "k", .block = {64, 1, 1}}),
           absl::StatusCode::kAborted,
           "k: a barrier of 40 threads, which is no multiple of 32, block (0,0,0) thread (0,0,0) "
           "at PTX line 9: bar.sync 1, 40");
}

// Every block of a launch without clusters is a cluster of one.
TEST(BadLaunchTest, RankZeroIsTheBlockItself) {
  const std::string map =
      ".shared .align 4 .u32 s; mov.u32 %r1, s; st.shared.u32 [s], 5;"
      "mapa.shared::cluster.u32 %r2, %r1, ";
  const auto good = Launched(map +
                                 "0; ld.shared::cluster.u32 %r3, [%r2];"
                                 "getctarank.shared::cluster.u32 %r4, %r2; setp.ne.u32 %p1, %r4, 0;"
                                 "@%p1 trap; setp.ne.u32 %p1, %r3, 5; @%p1 trap;",
                             {.entry = "k", .grid = {2, 1, 1}}, {.sanitize = true});
  EXPECT_TRUE(good.ok()) << good;
  const auto bad = Launched(map + "1; ld.shared::cluster.u32 %r3, [%r2];", {.entry = "k"});
  EXPECT_THAT(std::string(bad.message()), testing::HasSubstr("rank 1 of a cluster of 1"));
}

TEST(BadLaunchTest, MmioLoadsAreKnown) {
  EXPECT_TRUE(Launched("ld.mmio.relaxed.sys.global.u32 %r1, [%d30];", {}).ok());
}

// With many blocks too, none of which may take more than the launch.
TEST(BadLaunchTest, EndlessLoopsEndAtTheLimit) {
  for (const uint64_t seed : {0, 1}) {
    for (const uint32_t blocks : {1u, 4000u}) {
      ExpectIs(Launched("L: add.u32 %r1, %r1, 1; bra L;", {.entry = "k", .grid = {blocks, 1, 1}},
                        {.seed = seed, .instruction_limit = 1000}),
               absl::StatusCode::kAborted, "k: more than 1000 warp instructions: an endless loop?");
    }
  }
}

// Nor may warps at global atomics, which wait for each other's turns.
TEST(BadLaunchTest, EndlessAtomicsEndAtTheLimit) {
  const auto module = Parsed(KernelText("L: atom.global.add.u32 %r1, [%d31], 1; bra L;"));
  Gpu gpu(Machine{}, {.instruction_limit = 1000});
  const uint64_t out = Upload(gpu, std::vector<uint32_t>(1), "out");
  const LaunchShape shape{.entry = "k", .grid = {264, 1, 1}, .block = {1024, 1, 1}};
  ExpectIs(gpu.Launch(*module, shape, Packed().Add(out).Add(out).bytes()),
           absl::StatusCode::kAborted, "k: more than 1000 warp instructions: an endless loop?");
  EXPECT_LT(gpu.TakeCounts().warp_instructions, 100000);
}

TEST(BadLaunchTest, ASharedVariableOfNoBytes) {
  EXPECT_TRUE(Launched(".shared .b8 none[0]; mov.u32 %r1, none;", {}).ok());
}

// A fault inside a load leaves bytes that no instruction has brought.
TEST(BadLaunchTest, CountsAfterAFaultAreNumbers) {
  const auto status = Launched(
      "mov.u32 %r1, 0; mov.u64 %d1, %d30;"
      "cp.async.ca.shared.global [%r1], [%d1], 16; cp.async.ca.shared.global [999999], [%d1], 16;",
      {.entry = "k", .dynamic_shared_bytes = 64});
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << status;
}

TEST(BadLaunchTest, BulkCopiesOfWildAddressesAreFaults) {
  for (const char* text :
       {"cp.async.bulk.prefetch.L2.global [%d1], 4294967280;",
        "cp.async.bulk.global.shared::cta.bulk_group [%d1], [0], 16;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [0], [%d1], 16, [64];",
        "cp.async.ca.shared.global [0], [%d1], 16;"}) {
    for (const char* address : {"0", "0x10000000000", "0x20000000000", "0xfffffffffffffff0"}) {
      const auto status = Launched(absl::StrCat("mov.u64 %d1, ", address, "; mov.u32 %r1, 64;",
                                                "mbarrier.init.shared::cta.b64 [%r1], 1;", text),
                                   {.entry = "k", .dynamic_shared_bytes = 1024});
      EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange) << text << " " << address << status;
    }
  }
}

// The state of an arrival may go into the register of the address.
TEST(BadLaunchTest, AnArrivalMayReplaceItsAddress) {
  const auto status = Launched(
      "mov.u32 %r1, 64; mbarrier.init.shared::cta.b64 [%r1], 1; cvta.shared.u64 %d1, 64;"
      "mbarrier.arrive.b64 %d1, [%d1];",
      {.entry = "k", .dynamic_shared_bytes = 1024}, {.sanitize = true});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(BadLaunchTest, ApproximateResultsWithoutALastPlace) {
  const auto status = Launched(
      "mov.f32 %f1, 0fC4000000; ex2.approx.f32 %f2, %f1; mov.f32 %f1, 0f44000000;"
      "ex2.approx.f32 %f3, %f1; add.f32 %f2, %f2, %f3; st.global.f32 [%d31], %f2;",
      {}, {.approx_seed = 1});
  EXPECT_TRUE(status.ok()) << status;
}

TEST(BadLaunchTest, FormatsOfAnyWidth) {
  const std::string before =
      ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
      ".global .b8 format[16] = {37, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 57, 100, 10, 0};\n";
  const auto status = Launched(
      ".local .b8 values[8]; .param .b64 a; .param .b64 b; .param .b32 r;"
      "mov.u64 %d1, values; cvta.local.u64 %d1, %d1; st.u32 [%d1], 7;"
      "mov.u64 %d2, format; cvta.global.u64 %d2, %d2;"
      "st.param.b64 [a], %d2; st.param.b64 [b], %d1; call.uni (r), vprintf, (a, b);",
      {}, {}, before);
  EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace onepass::sim
