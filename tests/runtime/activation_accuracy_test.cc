// Every activation that has a kernel, over every f16 and bf16 value, a dense sweep of f32 and
// samples of f64, on a simulated GPU, against the reference: the bound that the activation table
// states holds.
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
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

// A GPU whose approximate instructions err as `approx_seed` says, within the PTX ISA's bounds.
Session& SimulatedH200(uint64_t approx_seed) {
  static auto* const sessions = new std::map<uint64_t, std::unique_ptr<Session>>;
  std::unique_ptr<Session>& session = (*sessions)[approx_seed];
  if (session == nullptr) {
    auto opened = Session::Open({.device = "sim:h200",
                                 .approx_seed = approx_seed,
                                 .use_cache = false,
                                 .environment = OptionsFromEnvironment()});
    EXPECT_TRUE(opened.ok()) << opened.status();
    session = *std::move(opened);
  }
  return *session;
}

// The bounds of f32 where approximate instructions are rounded correctly, as this GPU does if it is
// not told otherwise; the table's bounds also cover the errors that the PTX ISA allows them.
double BoundIfRoundedCorrectly(const Activation& act) {
  switch (act.kind) {
    case ActivationKind::kTanh:
      return 2;
    case ActivationKind::kSigmoid:
    case ActivationKind::kSoftplus:
    case ActivationKind::kGeluTanh:
      return 3;
    case ActivationKind::kSwish:
      return 4;
    case ActivationKind::kGeluErf:
      return 5;
    default:
      return UlpBound(act, DType::kF32);
  }
}

// The largest error in ulp of the output type, and that of correct rounding added, as the check
// allows it.
void ExpectAccurate(absl::string_view act, DType dtype, uint64_t approx_seed) {
  const std::vector<uint8_t> sweep = Sweep(dtype);
  const std::string line = absl::StrCat("pointwise.fwd ", ToString(dtype), " ",
                                        sweep.size() / SizeOf(dtype), " act=", act);
  const absl::StatusOr<Problem> problem = ParseProblem(line);
  ASSERT_TRUE(problem.ok()) << problem.status();
  std::vector<HostTensor> given;
  given.push_back({.spec = TensorsOf(*problem)[0], .bytes = sweep});
  const CaseResult result =
      RunCase(SimulatedH200(approx_seed), *problem, CaseOptions{}, std::move(given));
  const std::string name = absl::StrCat(line, " --approx-seed ", approx_seed);
  EXPECT_TRUE(result.report.ok()) << name << ": " << result.report.error.value_or("");
  ASSERT_TRUE(result.report.check.has_value()) << name << ": " << result.report.error.value_or("");
  const OutputCheck& y = result.report.check->outputs[0].second;
  std::printf("  %-20s %-4s seed %d %8.3f ulp (bound %g)\n", std::string(act).c_str(),
              ToString(dtype).data(), static_cast<int>(approx_seed), y.max_ulp_error.value_or(-1),
              UlpBound(problem->act, dtype));
  if (dtype == DType::kF32 && approx_seed == 0) {
    EXPECT_LE(y.max_ulp_error.value_or(0), BoundIfRoundedCorrectly(problem->act)) << name;
  }
}

class ActivationAccuracyTest : public ::testing::TestWithParam<ActivationRow> {};

TEST_P(ActivationAccuracyTest, HoldsItsBoundOverTheWholeRange) {
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64})
    ExpectAccurate(GetParam().name, dtype, /*approx_seed=*/0);
}

// What a GPU may do, not only what this one does.
TEST_P(ActivationAccuracyTest, HoldsItsBoundWhateverApproximateInstructionsDo) {
  for (DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    for (uint64_t seed : {1, 2, 3}) ExpectAccurate(GetParam().name, dtype, seed);
  }
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
    for (uint64_t seed : {0, 1, 2}) {
      ExpectAccurate(act, DType::kF16, seed);
      ExpectAccurate(act, DType::kF32, seed);
    }
  }
}

}  // namespace
}  // namespace onepass
