#include "runtime/nvrtc_candidates.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace onepass {
namespace {

using testing::Contains;
using testing::ElementsAre;

class NvrtcCandidatesTest : public testing::Test {
 protected:
  NvrtcCandidatesTest() : root_(testing::TempDir() + "/onepass-toolkit-XXXXXX") {
    EXPECT_NE(mkdtemp(root_.data()), nullptr);
  }
  ~NvrtcCandidatesTest() override { std::filesystem::remove_all(root_); }

  std::string Touch(const std::string& path) {
    std::string whole = root_ + "/" + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::ofstream(whole) << "library";
    return whole;
  }

  // All before the loader's own names.
  std::vector<std::string> Preferred(const ToolkitPaths& paths) {
    std::vector<std::string> candidates = NvrtcCandidates(paths);
    auto end = std::find(candidates.begin(), candidates.end(), "libnvrtc.so.13");
    EXPECT_NE(end, candidates.end());
    candidates.erase(end, candidates.end());
    return candidates;
  }

  std::string root_;
};

TEST_F(NvrtcCandidatesTest, WithoutPathsTheLoaderIsAskedFirst) {
  EXPECT_THAT(Preferred({.cuda_home = "", .toolkit_folder = ""}), ElementsAre());
  EXPECT_THAT(NvrtcCandidates({.cuda_home = "", .toolkit_folder = ""}), Contains("libnvrtc.so.12"));
}

TEST_F(NvrtcCandidatesTest, CudaHomeStandsBeforeTheToolkitFolder) {
  std::string home = Touch("cuda/lib64/libnvrtc.so.12");
  std::string wheel = Touch("toolkit/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_THAT(Preferred({.cuda_home = root_ + "/cuda", .toolkit_folder = root_ + "/toolkit"}),
              ElementsAre(home, wheel));
}

TEST_F(NvrtcCandidatesTest, NewerStandsBeforeOlder) {
  std::string older = Touch("cuda/lib64/libnvrtc.so.12");
  std::string newer = Touch("cuda/lib/libnvrtc.so.13");
  EXPECT_THAT(Preferred({.cuda_home = root_ + "/cuda", .toolkit_folder = ""}),
              ElementsAre(newer, older));
}

TEST_F(NvrtcCandidatesTest, WheelsOfSeveralLayoutsAreFound) {
  std::string old_layout = Touch("toolkit/nvidia/cuda_nvrtc/lib/libnvrtc.so.12");
  std::string new_layout = Touch("toolkit/nvidia/cu13/lib/libnvrtc.so.13");
  EXPECT_THAT(Preferred({.cuda_home = "", .toolkit_folder = root_ + "/toolkit"}),
              testing::UnorderedElementsAre(old_layout, new_layout));
}

TEST_F(NvrtcCandidatesTest, FoldersThatAreNotThereAreNoError) {
  EXPECT_THAT(Preferred({.cuda_home = root_ + "/no", .toolkit_folder = root_ + "/nothing"}),
              ElementsAre());
}

}  // namespace
}  // namespace onepass
