#include "runtime/exit_code.h"

#include "gtest/gtest.h"

namespace onepass {
namespace {

TEST(ExitCodeTest, KindOfErrorDecides) {
  EXPECT_EQ(ExitCodeOf(absl::OkStatus()), 0);
  EXPECT_EQ(ExitCodeOf(absl::InvalidArgumentError("")), 2);
  EXPECT_EQ(ExitCodeOf(absl::UnimplementedError("")), 3);
  EXPECT_EQ(ExitCodeOf(absl::UnavailableError("")), 4);
  EXPECT_EQ(ExitCodeOf(absl::InternalError("")), 6);
  EXPECT_EQ(ExitCodeOf(absl::ResourceExhaustedError("")), 6);
}

TEST(ExitCodeTest, AbortedMeansWhatItsStageMeans) {
  const absl::Status aborted = absl::AbortedError("");
  EXPECT_EQ(ExitCodeOf(aborted, Stage::kBuild), 5);
  EXPECT_EQ(ExitCodeOf(aborted, Stage::kSimulatedLaunch), 1);
  EXPECT_EQ(ExitCodeOf(aborted, Stage::kRealLaunch), 6);
}

TEST(ExitCodeTest, SimulatedFaultsAreFailedChecks) {
  EXPECT_EQ(ExitCodeOf(absl::OutOfRangeError(""), Stage::kSimulatedLaunch), 1);
  EXPECT_EQ(ExitCodeOf(absl::DeadlineExceededError(""), Stage::kSimulatedLaunch), 1);
  EXPECT_EQ(ExitCodeOf(absl::UnimplementedError(""), Stage::kSimulatedLaunch), 3);
  EXPECT_EQ(ExitCodeOf(absl::OkStatus(), Stage::kSimulatedLaunch), 0);
}

TEST(ExitCodeTest, WorstGoesByTheContractsOrder) {
  constexpr int kOrder[] = {1, 6, 5, 4, 3, 2, 0};
  for (int a = 0; a < 7; ++a) {
    for (int b = a; b < 7; ++b) {
      EXPECT_EQ(WorstOf(kOrder[a], kOrder[b]), kOrder[a]);
      EXPECT_EQ(WorstOf(kOrder[b], kOrder[a]), kOrder[a]);
    }
  }
}

TEST(OneLineTest, NoControlCharacterStays) {
  EXPECT_EQ(OneLine("plain"), "plain");
  EXPECT_EQ(OneLine("first\nsecond\n\n"), "first; second");
  EXPECT_EQ(OneLine("a\tb\x1b[31m"), "a b [31m");
  EXPECT_EQ(OneLine("\n\n"), "");
}

}  // namespace
}  // namespace onepass
