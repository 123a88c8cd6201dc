#include "runtime/cli/case_lines.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass::cli {
namespace {

TEST(CaseLinesTest, CommentsAndBlankLinesAreLeftOut) {
  const auto lines = SplitCaseLines("# a comment\n\n relu.fwd f32 8 # and one here\r\n\t\nlast");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].text, "relu.fwd f32 8");
  EXPECT_EQ(lines[0].number, 3);
  EXPECT_EQ(lines[1].text, "last");
  EXPECT_EQ(lines[1].number, 5);
}

TEST(CaseLinesTest, NothingGivesNoLines) {
  EXPECT_TRUE(SplitCaseLines("").empty());
  EXPECT_TRUE(SplitCaseLines("#").empty());
}

TEST(CaseLinesTest, UnreadableFileIsNamed) {
  for (const std::string path : {"/nowhere/cases.txt", "/"}) {
    const auto lines = ReadCaseLines(path);
    EXPECT_TRUE(absl::IsInvalidArgument(lines.status())) << path;
    EXPECT_THAT(std::string(lines.status().message()), testing::HasSubstr(path));
  }
}

}  // namespace
}  // namespace onepass::cli
