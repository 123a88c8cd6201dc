#include "runtime/cli/arguments.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Flag kFlags[] = {{"--device", "NAME", ""}, {"--seed", "N", ""},    {"--json", "", ""},
                           {"--check", "", ""},      {"--no-check", "", ""}, {"-o", "FILE", ""}};

absl::StatusOr<Arguments> Parse(const std::vector<std::string>& words) {
  return Arguments::Parse(words, kFlags);
}

TEST(ArgumentsTest, FlagsStandAnywhere) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--device", "sim:a100", "--json", "relu.fwd", "f32", "8"},
           {"relu.fwd", "f32", "8", "--json", "--device=sim:a100"},
           {"relu.fwd", "--json", "f32", "--device", "sim:a100", "8"}}) {
    const auto arguments = Parse(words);
    ASSERT_TRUE(arguments.ok()) << arguments.status();
    EXPECT_THAT(arguments->words(), ElementsAre("relu.fwd", "f32", "8"));
    EXPECT_EQ(arguments->Line(), "relu.fwd f32 8");
    EXPECT_EQ(arguments->Get("--device"), "sim:a100");
    EXPECT_TRUE(arguments->Has("--json"));
    EXPECT_FALSE(arguments->Has("--seed"));
  }
}

TEST(ArgumentsTest, OneQuotedArgumentIsTheLine) {
  EXPECT_EQ(Parse({"pointwise.fwd f32 8 expr=\"x * 2\""})->Line(),
            "pointwise.fwd f32 8 expr=\"x * 2\"");
}

TEST(ArgumentsTest, ExpressionGetsItsQuotesBack) {
  EXPECT_EQ(Parse({"pointwise.fwd", "f32", "8", "expr=x * 2"})->Line(),
            "pointwise.fwd f32 8 expr=\"x * 2\"");
}

TEST(ArgumentsTest, LastOfOppositesWins) {
  EXPECT_TRUE(Parse({"--no-check", "--check"})->Enabled("check"));
  EXPECT_FALSE(Parse({"--check", "--no-check"})->Enabled("check"));
  EXPECT_TRUE(Parse({})->Enabled("check"));
  EXPECT_TRUE(Parse({"--json", "--json"})->Has("--json")) << "there is nothing to disagree about";
}

TEST(ArgumentsTest, DashIsAWordAndTwoDashesEndTheFlags) {
  EXPECT_THAT(Parse({"-"})->words(), ElementsAre("-"));
  EXPECT_THAT(Parse({"--", "--json", "-x"})->words(), ElementsAre("--json", "-x"));
}

TEST(ArgumentsTest, ErrorsNameTheFlag) {
  struct Case {
    std::vector<std::string> words;
    std::string named;
  };
  for (const Case& c : std::vector<Case>{{{"--nope"}, "--nope: unknown flag"},
                                         {{"--nope=3"}, "--nope: unknown flag"},
                                         {{"-x"}, "-x: unknown flag"},
                                         {{"--device"}, "--device needs a value"},
                                         {{"--device="}, "--device needs a value"},
                                         {{"-o", ""}, "-o needs a value"},
                                         {{"--json=1"}, "--json takes no value"},
                                         {{"--seed", "1", "--seed=2"}, "--seed: is given twice"},
                                         {{"--seed=1", "--seed=1"}, "--seed: is given twice"}}) {
    const auto arguments = Parse(c.words);
    EXPECT_TRUE(absl::IsInvalidArgument(arguments.status()));
    EXPECT_THAT(std::string(arguments.status().message()), HasSubstr(c.named));
  }
}

TEST(ArgumentsTest, NumbersAreWholeAndLargeEnough) {
  EXPECT_EQ(*Parse({})->GetNumber("--seed", 5), 5u);
  EXPECT_EQ(*Parse({"--seed", "18446744073709551615"})->GetNumber("--seed", 0), ~uint64_t{0});
  for (const std::string wrong : {"-1", "x", "1.5", "18446744073709551616"}) {
    const auto number = Parse({"--seed=" + wrong})->GetNumber("--seed", 0);
    EXPECT_TRUE(absl::IsInvalidArgument(number.status())) << wrong;
    EXPECT_THAT(std::string(number.status().message()), HasSubstr("--seed: '" + wrong));
  }
  EXPECT_FALSE(Parse({"--seed=0"})->GetNumber("--seed", 1, 1).ok());
}

}  // namespace
}  // namespace onepass::cli
