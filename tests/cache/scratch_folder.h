#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "gtest/gtest.h"

namespace onepass::cache {

// A folder of its own (0700) for one test, removed with everything in it.
class ScratchFolder {
 public:
  ScratchFolder() : path_(testing::TempDir() + "/onepass-cache-XXXXXX") {
    EXPECT_NE(mkdtemp(path_.data()), nullptr);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace onepass::cache
