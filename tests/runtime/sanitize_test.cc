// With all checkers on, no kernel that Onepass emits is reported: every strategy, every type, three
// devices. (The planted bugs in tests/runtime/sim show that the checkers see what there is.)
#include <map>
#include <set>

#include "absl/strings/str_join.h"
#include "runtime/exit_code.h"
#include "tests/runtime/simulated_case.h"

namespace onepass {
namespace {

constexpr const char* kLines[] = {
    "batch_norm.infer f16 2x96x7x7:nhwc residual act=relu",
    "batch_norm.infer f64 3x5x7x9",
    "batch_norm.train f32 4x8x28x28",
    "batch_norm.train f16 4x48x14x14:nhwc residual act=relu",
    "batch_norm.train bf16 3x5x9x11",
    "batch_norm.train f64 4x7x14x14:nhwc affine=none",
    "batch_norm.train f32 16x33x5x5:nhwc align=4",
    "batch_norm.train bf16 8x16x12x12 affine=bias momentum=cumulative:3",
    "pointwise.fwd bf16 7x1001 expr=\"x*sigmoid(1.702*x)\"",
    "pointwise.fwd f32 4x6x10x10 expr=\"x*a+b\" a=1x6x1x1 b=1x1x10x10",
    "gelu_tanh.fwd f16 33x129 inplace",
};
constexpr const char* kDevices[] = {"sim:a100", "sim:h200", "sim:b200"};

std::unique_ptr<Session> CheckedSession(const char* device) {
  Session::Settings settings;
  settings.device = device;
  settings.sanitize = true;
  settings.environment = TestOptions();
  auto session = Session::Open(settings);
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? *std::move(session) : nullptr;
}

std::set<std::string> StrategyNames() {
  std::set<std::string> names;
  for (const Strategy& strategy : Strategies()) names.emplace(strategy.name);
  return names;
}

TEST(SanitizeTest, NoKernelOfOursIsReported) {
  std::map<std::string, int> runs;
  for (const char* device : kDevices) {
    const auto session = CheckedSession(device);
    ASSERT_NE(session, nullptr);
    for (const char* line : kLines) {
      const Problem problem = ProblemOf(line);
      for (const std::string& strategy : StrategyNames()) {
        const RunReport report = RunCase(*session, problem, OptionsFor(strategy), {}).report;
        if (report.exit == kExitUnsupported) continue;
        ++runs[strategy];
        EXPECT_EQ(report.exit, 0) << device << " " << strategy << ": " << line << ": "
                                  << report.error.value_or("");
        ASSERT_TRUE(report.sanitizer.has_value() && report.sanitizer->enabled);
        EXPECT_TRUE(report.sanitizer->findings.empty())
            << device << " " << strategy << ": " << line << ": "
            << absl::StrJoin(report.sanitizer->findings, "\n");
      }
    }
  }
  for (const std::string& strategy : StrategyNames()) {
    EXPECT_GT(runs[strategy], 0) << strategy << " ran for none of the lines";
  }
}

// What a checker saw reaches whoever measures, while the kernel runs to its end.
TEST(SanitizeTest, AFindingIsPartOfTheMeasurement) {
  const Source source{
      .text = "extern \"C\" __global__ void count(unsigned* counter) { *counter += threadIdx.x; }",
      .kernels = {"count"}};
  for (const bool sanitize : {true, false}) {
    const auto device = OpenDevice("sim:h200", {.sanitize = sanitize});
    ASSERT_TRUE(device.ok()) << device.status();
    const auto binary = TheNvrtc().Compile(source, "compute_90");
    ASSERT_TRUE(binary.ok()) << binary.status();
    const auto module = (*device)->Load(*binary, source.kernels);
    ASSERT_TRUE(module.ok()) << module.status();
    const auto counter = (*device)->Allocate({.bytes = 4, .label = "counter", .element_bytes = 4});
    ASSERT_TRUE(counter.ok() && (*device)->BeginMeasure(0).ok());
    const LaunchShape shape{.grid = {1, 1, 1}, .block = {64, 1, 1}};
    const llvm::ArrayRef<uint8_t> block(reinterpret_cast<const uint8_t*>(&*counter), 8);
    EXPECT_TRUE((*device)->Launch({module->get(), shape, block}, 0).ok());
    const auto measured = (*device)->EndMeasure(0);
    ASSERT_TRUE(measured.ok());
    const std::string all = absl::StrJoin(measured->findings, "\n");
    EXPECT_EQ(all.find("read of uninitialised counter[0]") != std::string::npos, sanitize) << all;
    EXPECT_EQ(all.find("race in counter[0]") != std::string::npos, sanitize) << all;
  }
}

}  // namespace
}  // namespace onepass
