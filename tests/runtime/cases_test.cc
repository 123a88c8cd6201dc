// The main job over case files: every line on a simulated GPU, its numbers checked against the
// reference. A line that fails is printed as a command.
#include <filesystem>
#include <string>
#include <vector>

#include "codegen/activation.h"
#include "gtest/gtest.h"
#include "tests/runtime/simulated_case.h"

namespace onepass {
namespace {

void ExpectOk(const std::string& device, const std::string& line, const std::string& data) {
  const CaseResult result = RunCase(SessionOn(device), ProblemOf(line), OptionsFor("", data));
  EXPECT_TRUE(result.report.ok() && result.report.check.has_value())
      << result.report.error.value_or("not checked") << "\n  onepass run --device " << device
      << " --data " << data << " " << line;
}

void ExpectAllOk(const std::string& device, const std::vector<std::string>& lines,
                 const std::string& data) {
  OnTwoThreads(lines.size(), [&](size_t i) { ExpectOk(device, lines[i], data); });
}

std::vector<std::string> Norms(const std::vector<std::string>& lines) {
  std::vector<std::string> norms;
  for (const std::string& line : lines) {
    if (IsNorm(ProblemOf(line).op)) norms.push_back(line);
  }
  return norms;
}

// Every third line, beginning with one of the first three.
std::vector<std::string> Third(const std::vector<std::string>& lines, size_t first) {
  std::vector<std::string> third;
  for (size_t i = first; i < lines.size(); i += 3) third.push_back(lines[i]);
  return third;
}

TEST(CasesTest, SampleOnH200) { ExpectAllOk("sim:h200", SampleLines(), "normal:0,1"); }

TEST(CasesTest, SampleFarFromZeroOnH200) {
  ExpectAllOk("sim:h200", Norms(SampleLines()), "normal:1000,1");
}

TEST(CasesTest, ThirdOfTheSampleOnA100) {
  ExpectAllOk("sim:a100", Third(SampleLines(), 0), "normal:0,1");
  ExpectAllOk("sim:a100", Norms(Third(SampleLines(), 0)), "normal:1000,1");
}

TEST(CasesTest, ThirdOfTheSampleOnB200) {
  ExpectAllOk("sim:b200", Third(SampleLines(), 1), "normal:0,1");
  ExpectAllOk("sim:b200", Norms(Third(SampleLines(), 1)), "normal:1000,1");
}

// Infinities, NaNs, zeros, subnormals and the largest values, in norms a channel each.
TEST(CasesTest, SpecialValuesOnH200) {
  std::vector<std::string> lines = SampleLines();
  ExpectAllOk("sim:h200", lines, "special");
}

// What this operator's kernels do not compute yet is refused, which is not what is tested here.
bool HasKernel(const Problem& problem) {
  const bool operates = !IsGrad(problem.op) && !IsPool(problem.op) && problem.operands.empty();
  return operates && KeyCovers(problem).ok() && !RowOf(problem.act.kind).cuda.empty();
}

// The whole lists where they stand beside the checkout, up to four million elements a line;
// otherwise the sample.
std::vector<std::string> WholeLists() {
  const std::string folder = ONEPASS_SOURCE_DIR "/../shared/cases";
  if (!std::filesystem::is_directory(folder)) return SampleLines();
  std::vector<std::string> lines;
  for (const char* file : {"networks.txt", "norm.txt", "pointwise.txt"}) {
    for (std::string& line : CaseLines(folder + "/" + file)) {
      const absl::StatusOr<Problem> problem = ParseProblem(line);
      if (problem.ok() && HasKernel(*problem) && problem->elements() <= 4'000'000)
        lines.push_back(std::move(line));
    }
  }
  return lines;
}

TEST(CasesSlowTest, WholeListsOnH200) { ExpectAllOk("sim:h200", WholeLists(), "normal:0,1"); }
TEST(CasesSlowTest, WholeListsOnA100) { ExpectAllOk("sim:a100", WholeLists(), "normal:0,1"); }
TEST(CasesSlowTest, WholeListsFarFromZeroOnH200) {
  ExpectAllOk("sim:h200", Norms(WholeLists()), "normal:1000,1");
}
TEST(CasesSlowTest, WholeListsFarFromZeroOnA100) {
  ExpectAllOk("sim:a100", Norms(WholeLists()), "normal:1000,1");
}
TEST(CasesSlowTest, SampleOnEveryChip) {
  for (const DeviceSpec& chip : KnownDevices()) {
    ExpectAllOk("sim:" + chip.name, SampleLines(), "normal:0,1");
    ExpectAllOk("sim:" + chip.name, Norms(SampleLines()), "normal:1000,1");
  }
}

}  // namespace
}  // namespace onepass
