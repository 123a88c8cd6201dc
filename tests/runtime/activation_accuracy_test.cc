// Every activation that has a kernel, over every f16 and bf16 value, a dense sweep of f32 and
// samples of f64, on a simulated GPU, against the reference: the bound that the activation table
// states holds.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/activation.h"
#include "gtest/gtest.h"
#include "runtime/case_run.h"
#include "runtime/session.h"

namespace onepass {
namespace {

// All bit patterns of a 16-bit type; of the wider ones every 2^k-th with its upper neighbour, so
// that both ends of every binade and all special values (zeros, subnormals, infinities, NaNs) are
// among them.
std::vector<uint8_t> Sweep(DType dtype) {
  std::vector<uint8_t> bytes;
  const auto append = [&](uint64_t bits) {
    const auto* begin = reinterpret_cast<const uint8_t*>(&bits);
    bytes.insert(bytes.end(), begin, begin + SizeOf(dtype));
  };
  const int width = 8 * SizeOf(dtype);
  const int drop = width == 16 ? 0 : width == 32 ? 13 : 46;
  for (uint64_t i = 0; i < uint64_t{1} << (width - drop); ++i) {
    append(i << drop);
    if (drop > 0) append((i << drop) + ((i * 2654435761u) & ((uint64_t{1} << drop) - 1)));
  }
  return bytes;
}

Session& SimulatedH200() {
  static Session* const session = [] {
    auto opened = Session::Open(
        {.device = "sim:h200", .use_cache = false, .environment = OptionsFromEnvironment()});
    EXPECT_TRUE(opened.ok()) << opened.status();
    return opened->release();
  }();
  return *session;
}

// The largest error in ulp of the output type, and that of correct rounding added, as the check
// allows it.
void ExpectAccurate(absl::string_view act, DType dtype) {
  const std::vector<uint8_t> sweep = Sweep(dtype);
  const std::string line = absl::StrCat("pointwise.fwd ", ToString(dtype), " ",
                                        sweep.size() / SizeOf(dtype), " act=", act);
  const absl::StatusOr<Problem> problem = ParseProblem(line);
  ASSERT_TRUE(problem.ok()) << problem.status();
  std::vector<HostTensor> given;
  given.push_back({.spec = TensorsOf(*problem)[0], .bytes = sweep});
  const CaseResult result = RunCase(SimulatedH200(), *problem, CaseOptions{}, std::move(given));
  EXPECT_TRUE(result.report.ok()) << line << ": " << result.report.error.value_or("");
  ASSERT_TRUE(result.report.check.has_value()) << line << ": " << result.report.error.value_or("");
  const OutputCheck& y = result.report.check->outputs[0].second;
  std::printf("  %-20s %-4s %8.3f ulp (bound %g)\n", std::string(act).c_str(),
              ToString(dtype).data(), y.max_ulp_error.value_or(-1), UlpBound(problem->act, dtype));
}

class ActivationAccuracyTest : public ::testing::TestWithParam<ActivationRow> {};

TEST_P(ActivationAccuracyTest, HoldsItsBoundOverTheWholeRange) {
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64})
    ExpectAccurate(GetParam().name, dtype);
}

std::vector<ActivationRow> RowsWithKernels() {
  std::vector<ActivationRow> rows;
  for (const ActivationRow& row : Activations()) {
    if (!row.cuda.empty()) rows.push_back(row);
  }
  return rows;
}

INSTANTIATE_TEST_SUITE_P(Activations, ActivationAccuracyTest,
                         ::testing::ValuesIn(RowsWithKernels()),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(ActivationConstantsTest, OtherConstantsHoldTheBoundToo) {
  for (const char* act : {"leaky_relu:-0.3", "elu:2", "swish:1.702", "swish:-0.5",
                          "softplus:0.1:15", "softplus:3:1000"}) {
    ExpectAccurate(act, DType::kF16);
    ExpectAccurate(act, DType::kF32);
  }
}

}  // namespace
}  // namespace onepass
