#include "runtime/options.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace onepass {
namespace {

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

TEST_F(OptionsTest, LimitThatIsNoNumberIsIgnored) {
  setenv("ONEPASS_CACHE_LIMIT", "4096", 1);
  EXPECT_EQ(OptionsFromEnvironment().cache_limit, 4096);
  for (const char* wrong : {"", "-1", "many", "1e9", "99999999999999999999"}) {
    setenv("ONEPASS_CACHE_LIMIT", wrong, 1);
    EXPECT_EQ(OptionsFromEnvironment().cache_limit, int64_t{1} << 30) << wrong;
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
