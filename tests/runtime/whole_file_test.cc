#include "runtime/whole_file.h"

#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/temporary_folder.h"

namespace onepass {
namespace {

TEST(WholeFileTest, BytesComeBack) {
  const TemporaryFolder folder;
  const std::string bytes = std::string(200'000, 'a') + std::string("\0\r\n", 3);
  std::ofstream(folder / "f", std::ios::binary) << bytes;
  EXPECT_EQ(*ReadWholeFile(folder / "f"), bytes);
  EXPECT_EQ(*ReadWholeFile("/dev/null"), "");
}

TEST(WholeFileTest, WhatCannotBeReadIsNamedWithTheReason) {
  const TemporaryFolder folder;
  for (const std::string& path : {folder / "none", folder.path()}) {
    const absl::Status status = ReadWholeFile(path).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_THAT(std::string(status.message()), testing::HasSubstr(path + ": cannot be read: "));
  }
}

}  // namespace
}  // namespace onepass
