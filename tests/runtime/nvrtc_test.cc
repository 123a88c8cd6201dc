#include "runtime/nvrtc.h"

#include <sys/resource.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/cubin.h"

namespace onepass {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ToolkitPaths TestToolkit() {
  const char* home = std::getenv("CUDA_HOME");
  return {.cuda_home = home == nullptr ? "" : home,
          .toolkit_folder = ONEPASS_SOURCE_DIR "/.toolkit"};
}

const Nvrtc& TheNvrtc() {
  static const std::shared_ptr<Nvrtc> nvrtc = *Nvrtc::Load(TestToolkit());
  return *nvrtc;
}

// The second kernel, which the compiler emits before the first, spills; the third has an array that
// does not fit registers.
Source ThreeKernels() {
  Source source;
  source.text = R"(
struct Args { const float* x; float* y; int n; };
extern "C" __global__ void __launch_bounds__(256) zeta(const Args a) {
  __shared__ float s[300];
  int i = blockIdx.x * 256 + threadIdx.x;
  s[threadIdx.x] = a.x[i];
  __syncthreads();
  a.y[i] = s[255 - threadIdx.x];
}
extern "C" __global__ void __launch_bounds__(1024, 2) alpha(const Args a) {
  float v[80];
#pragma unroll
  for (int i = 0; i < 80; i++) v[i] = a.x[i * 1024 + threadIdx.x];
  __syncthreads();
  float s = 0;
#pragma unroll
  for (int i = 0; i < 80; i++) s += v[i];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 80; i++) a.y[i * 1024 + threadIdx.x] = v[i] - s;
}
extern "C" __global__ void mid(const Args a) {
  float v[64];
  for (int i = 0; i < 64; i++) v[i] = a.x[i];
  for (int i = 0; i < a.n; i++) v[(i * a.n) % 64] += 1.0f;
  a.y[0] = v[a.n % 64];
}
)";
  source.kernels = {"zeta", "alpha", "mid"};
  return source;
}

Source OneKernel(const std::string& text, const std::string& name) {
  Source source;
  source.text = text;
  source.kernels = {name};
  return source;
}

const Source kMultiplyAdd =
    OneKernel(R"(extern "C" __global__ void k(float* p) { p[0] = p[1] * p[2] + p[3]; })", "k");

class NvrtcArchTest : public testing::TestWithParam<std::string> {};

TEST_P(NvrtcArchTest, OneCompileGivesCubinAndPtx) {
  absl::StatusOr<Binary> binary = TheNvrtc().Compile(kMultiplyAdd, GetParam());
  ASSERT_TRUE(binary.ok()) << binary.status();
  EXPECT_EQ(binary->arch, GetParam());
  EXPECT_THAT(std::string(binary->cubin.begin(), binary->cubin.end()), StartsWith("\x7f"
                                                                                  "ELF"));
  EXPECT_THAT(binary->ptx, HasSubstr(".target " + GetParam()));
  EXPECT_THAT(binary->ptx, HasSubstr(".visible .entry k("));
  EXPECT_EQ(binary->ptx.find('\0'), std::string::npos);
  EXPECT_EQ(binary->log, "");
  EXPECT_GT(binary->compile_ms, 1);
}

TEST_P(NvrtcArchTest, ResourcesAreReadInTheOrderOfTheSource) {
  absl::StatusOr<Binary> binary = TheNvrtc().Compile(ThreeKernels(), GetParam());
  ASSERT_TRUE(binary.ok()) << binary.status();
  ASSERT_EQ(binary->resources.size(), 3);
  const KernelResources &zeta = binary->resources[0], &alpha = binary->resources[1],
                        &mid = binary->resources[2];
  EXPECT_EQ(zeta.name, "zeta");
  EXPECT_GT(zeta.registers, 5);
  EXPECT_LE(zeta.registers, 32);
  EXPECT_EQ(zeta.static_shared_bytes, 1200);
  EXPECT_EQ(zeta.local_bytes, 0);
  EXPECT_EQ(zeta.spill_bytes, 0);
  EXPECT_GT(zeta.code_bytes, 100);
  EXPECT_EQ(zeta.code_bytes % 16, 0);

  EXPECT_EQ(alpha.name, "alpha");
  EXPECT_EQ(alpha.registers, 32) << "what two blocks of 1024 threads leave";
  EXPECT_GE(alpha.spill_bytes, 80);
  EXPECT_GE(alpha.local_bytes, 80);
  EXPECT_EQ(alpha.static_shared_bytes, 0);

  EXPECT_EQ(mid.name, "mid");
  EXPECT_EQ(mid.local_bytes, 256);
  EXPECT_EQ(mid.spill_bytes, 0) << "an indexed array is no spill";
}

TEST_P(NvrtcArchTest, DamagedCubinIsNeverReadOutsideItsBytes) {
  absl::StatusOr<Binary> binary = TheNvrtc().Compile(kMultiplyAdd, GetParam());
  ASSERT_TRUE(binary.ok()) << binary.status();
  const std::vector<std::string> names = {"k"};
  EXPECT_TRUE(ReadCubin(binary->cubin, names).ok());
  EXPECT_TRUE(absl::IsDataLoss(ReadCubin({}, names).status()));
  for (size_t size = 0; size < binary->cubin.size(); size += 7) {
    ReadCubin(llvm::MutableArrayRef(binary->cubin.data(), size), names).status().IgnoreError();
  }
  for (size_t at = 0; at < binary->cubin.size(); ++at) {
    std::vector<uint8_t> bad = binary->cubin;
    bad[at] ^= 0xff;
    ReadCubin(bad, names).status().IgnoreError();
  }
}

INSTANTIATE_TEST_SUITE_P(Archs, NvrtcArchTest, testing::Values("sm_80", "sm_90", "sm_100"),
                         [](const auto& param) { return param.param; });

TEST(NvrtcTest, SameSourceGivesSameBytes) {
  Binary first = *TheNvrtc().Compile(ThreeKernels(), "sm_90");
  Binary second = *TheNvrtc().Compile(ThreeKernels(), "sm_90");
  first.compile_ms = second.compile_ms = 0;
  EXPECT_EQ(first, second);
}

TEST(NvrtcTest, MultiplyAndAddAreNotFused) {
  absl::StatusOr<Binary> binary = TheNvrtc().Compile(kMultiplyAdd, "sm_90");
  ASSERT_TRUE(binary.ok()) << binary.status();
  EXPECT_THAT(binary->ptx, HasSubstr("mul.rn.f32"));
  EXPECT_THAT(binary->ptx, Not(HasSubstr("fma")));
}

TEST(NvrtcTest, StackLimitOfTheProcessStays) {
  rlimit before = {}, after = {};
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &before), 0);
  ASSERT_TRUE(TheNvrtc().Compile(kMultiplyAdd, "sm_90").ok());
  ASSERT_EQ(getrlimit(RLIMIT_STACK, &after), 0);
  EXPECT_EQ(before.rlim_cur, after.rlim_cur);
}

TEST(NvrtcTest, ErrorNamesTheKernelAndTheFirstErrorThenTheLog) {
  absl::Status status =
      TheNvrtc()
          .Compile(OneKernel("extern \"C\" __global__ void broken() {\n  int unused = 0;\n"
                             "  first_fault;\n  second_fault;\n}\n",
                             "broken"),
                   "sm_90")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
  std::string message(status.message());
  std::string first_line = message.substr(0, message.find('\n'));
  EXPECT_THAT(first_line, StartsWith("broken does not compile: broken.cu(3): error:"));
  EXPECT_THAT(first_line, HasSubstr("first_fault"));
  EXPECT_THAT(message, HasSubstr("second_fault"));
}

TEST(NvrtcTest, WarningsAreInTheLog) {
  absl::StatusOr<Binary> binary = TheNvrtc().Compile(
      OneKernel("extern \"C\" __global__ void k() { int never_used; }", "k"), "sm_90");
  ASSERT_TRUE(binary.ok()) << binary.status();
  EXPECT_THAT(binary->log, HasSubstr("never_used"));
  EXPECT_THAT(binary->log, Not(HasSubstr("ptxas")));
}

TEST(NvrtcTest, HeadersAreNotThere) {
  absl::Status status =
      TheNvrtc()
          .Compile(OneKernel("#include <stdio.h>\nextern \"C\" __global__ void k() {}", "k"),
                   "sm_90")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kAborted);
}

TEST(NvrtcTest, ArchNewerThanKnownGetsPtxOfTheNewest) {
  absl::StatusOr<Binary> binary = TheNvrtc().Compile(kMultiplyAdd, "sm_990");
  ASSERT_TRUE(binary.ok()) << binary.status();
  EXPECT_EQ(binary->arch, "sm_990");
  EXPECT_TRUE(binary->cubin.empty());
  EXPECT_THAT(binary->ptx,
              HasSubstr(".target sm_" + std::to_string(TheNvrtc().SupportedArchs().back())));
  ASSERT_EQ(binary->resources.size(), 1);
  EXPECT_EQ(binary->resources[0].name, "k");
}

TEST(NvrtcTest, VirtualArchGetsPtxOnly) {
  absl::StatusOr<Binary> binary = TheNvrtc().Compile(kMultiplyAdd, "compute_80");
  ASSERT_TRUE(binary.ok()) << binary.status();
  EXPECT_TRUE(binary->cubin.empty());
  EXPECT_THAT(binary->ptx, HasSubstr(".target sm_80"));
}

TEST(NvrtcTest, ArchThatIsNoneOrTooOldIsRefused) {
  for (const char* arch : {"", "sm_", "90", "sm_x", "gfx90", "sm_90ab"}) {
    EXPECT_EQ(TheNvrtc().Compile(kMultiplyAdd, arch).status().code(),
              absl::StatusCode::kInvalidArgument)
        << arch;
  }
  EXPECT_EQ(TheNvrtc().Compile(kMultiplyAdd, "sm_35").status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(NvrtcTest, KernelThatTheSourceLacksIsAnError) {
  Source source = kMultiplyAdd;
  source.kernels.push_back("absent");
  absl::Status status = TheNvrtc().Compile(source, "sm_90").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
  EXPECT_THAT(std::string(status.message()), HasSubstr("absent"));
}

TEST(NvrtcTest, VersionNamesTheBuildWhereverItLies) {
  EXPECT_THAT(TheNvrtc().version(), testing::MatchesRegex("[0-9]+\\.[0-9] [-0-9a-fxh]{16,}"));
  EXPECT_THAT(TheNvrtc().version(), Not(HasSubstr("/")));
  EXPECT_EQ((*Nvrtc::Load(TestToolkit()))->version(), TheNvrtc().version());
}

TEST(NvrtcTest, MissingOneSaysWhatWasTriedAndWhatBringsIt) {
  const std::vector<std::string> candidates = {"/no/such/libnvrtc.so.13", "libm.so.6"};
  absl::Status status = Nvrtc::LoadFirstOf(candidates).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  for (const char* text : {"/no/such/libnvrtc.so.13", "libm.so.6 (it lacks functions of NVRTC)",
                           "CUDA_HOME", "./dev build"}) {
    EXPECT_THAT(std::string(status.message()), HasSubstr(text));
  }
  EXPECT_THAT(std::string(status.message()), Not(HasSubstr("\n")));
}

TEST(NvrtcTest, ThreadsCompileAtTheSameTime) {
  std::vector<std::thread> threads;
  std::vector<Binary> binaries(4);
  for (Binary& binary : binaries) {
    threads.emplace_back([&binary] { binary = *TheNvrtc().Compile(ThreeKernels(), "sm_90"); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Binary& binary : binaries) EXPECT_EQ(binary.cubin, binaries[0].cubin);
}

}  // namespace
}  // namespace onepass
