#include "runtime/options.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    for (const char* name : {"ONEPASS_CACHE_DIR", "XDG_CACHE_HOME", "HOME", "ONEPASS_CACHE_LIMIT",
                             "ONEPASS_DEVICE", "ONEPASS_LOG", "CUDA_HOME"}) {
      unsetenv(name);
    }
  }
};

TEST_F(OptionsTest, DefaultsAreTheContracts) {
  const Options options = OptionsFromEnvironment();
  EXPECT_EQ(options.cache_dir, "");
  EXPECT_EQ(options.cache_limit, int64_t{1} << 30);
  EXPECT_EQ(options.device, "auto");
  EXPECT_EQ(options.log, "warning");
}

TEST_F(OptionsTest, CacheFolderComesFromTheFirstThatIsSet) {
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(OptionsFromEnvironment().cache_dir, "/home/someone/.cache/onepass");
  setenv("XDG_CACHE_HOME", "relative", 1);
  EXPECT_EQ(OptionsFromEnvironment().cache_dir, "/home/someone/.cache/onepass");
  setenv("XDG_CACHE_HOME", "/var/cache", 1);
  EXPECT_EQ(OptionsFromEnvironment().cache_dir, "/var/cache/onepass");
  setenv("ONEPASS_CACHE_DIR", "/srv/kernels", 1);
  EXPECT_EQ(OptionsFromEnvironment().cache_dir, "/srv/kernels");
}

TEST_F(OptionsTest, RelativeCacheFolderIsTakenFromHere) {
  setenv("ONEPASS_CACHE_DIR", "kernels", 1);
  EXPECT_EQ(OptionsFromEnvironment().cache_dir,
            (std::filesystem::current_path() / "kernels").string());
}

TEST_F(OptionsTest, LimitThatIsNoNumberIsIgnoredWithAWarning) {
  setenv("ONEPASS_CACHE_LIMIT", "", 1);
  EXPECT_THAT(OptionsFromEnvironment().warnings, IsEmpty());
  setenv("ONEPASS_CACHE_LIMIT", "4096", 1);
  EXPECT_EQ(OptionsFromEnvironment().cache_limit, 4096);
  EXPECT_THAT(OptionsFromEnvironment().warnings, IsEmpty());
  for (const std::string wrong : {"-1", "many", "1e9", "99999999999999999999"}) {
    setenv("ONEPASS_CACHE_LIMIT", wrong.c_str(), 1);
    const Options options = OptionsFromEnvironment();
    EXPECT_EQ(options.cache_limit, int64_t{1} << 30) << wrong;
    EXPECT_THAT(options.warnings,
                ElementsAre(AllOf(HasSubstr("ONEPASS_CACHE_LIMIT"), HasSubstr("'" + wrong + "'"))));
  }
}

TEST_F(OptionsTest, UnknownLogLevelIsIgnoredWithAWarning) {
  for (const char* level : {"error", "warning", "info", "debug"}) {
    setenv("ONEPASS_LOG", level, 1);
    EXPECT_EQ(OptionsFromEnvironment().log, level);
    EXPECT_THAT(OptionsFromEnvironment().warnings, IsEmpty());
  }
  setenv("ONEPASS_LOG", "loud", 1);
  EXPECT_EQ(OptionsFromEnvironment().log, "warning");
  EXPECT_THAT(OptionsFromEnvironment().warnings,
              ElementsAre(AllOf(HasSubstr("ONEPASS_LOG"), HasSubstr("loud"))));
}

TEST_F(OptionsTest, ToolkitThatIsNoFolderIsIgnoredWithAWarning) {
  setenv("CUDA_HOME", "/etc", 1);
  EXPECT_EQ(OptionsFromEnvironment().toolkit.cuda_home, "/etc");
  EXPECT_THAT(OptionsFromEnvironment().warnings, IsEmpty());
  for (const char* wrong : {"/no/such/toolkit", "/etc/passwd"}) {
    setenv("CUDA_HOME", wrong, 1);
    EXPECT_EQ(OptionsFromEnvironment().toolkit.cuda_home, "");
    EXPECT_THAT(OptionsFromEnvironment().warnings,
                ElementsAre(AllOf(HasSubstr("CUDA_HOME"), HasSubstr(wrong))));
  }
}

TEST_F(OptionsTest, EmptyVariablesCountAsUnset) {
  setenv("ONEPASS_DEVICE", "", 1);
  EXPECT_EQ(OptionsFromEnvironment().device, "auto");
  setenv("ONEPASS_DEVICE", "sim:a100", 1);
  EXPECT_EQ(OptionsFromEnvironment().device, "sim:a100");
}

}  // namespace
}  // namespace onepass
