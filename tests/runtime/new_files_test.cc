#include "runtime/new_files.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/runtime/temporary_folder.h"

namespace onepass {
namespace {

namespace fs = std::filesystem;

std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int FilesIn(const std::string& folder) {
  return static_cast<int>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(NewFilesTest, NothingIsThereBeforeCommit) {
  const TemporaryFolder folder;
  NewFiles files;
  ASSERT_TRUE(files.Write(folder / "a", {"one", "two"}).ok());
  ASSERT_TRUE(files.Write(folder / "b", {}).ok());
  EXPECT_FALSE(fs::exists(folder / "a"));
  ASSERT_TRUE(files.Commit().ok());
  EXPECT_EQ(ReadText(folder / "a"), "onetwo");
  EXPECT_EQ(ReadText(folder / "b"), "");
  EXPECT_EQ(FilesIn(folder.path()), 2);
}

TEST(NewFilesTest, WhatIsNotCommittedLeavesNoTrace) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "old";
  {
    NewFiles files;
    ASSERT_TRUE(files.Write(folder / "a", {"new"}).ok());
  }
  EXPECT_EQ(ReadText(folder / "a"), "old");
  EXPECT_EQ(FilesIn(folder.path()), 1);
}

TEST(NewFilesTest, StreamWritesPieceByPiece) {
  const TemporaryFolder folder;
  NewFiles files(NewFiles::Kind::kLasting);
  ASSERT_TRUE(files
                  .Stream(folder / "a",
                          [](NewFiles::Sink sink) {
                            absl::Status status = sink("one");
                            status.Update(sink("two"));
                            return status;
                          })
                  .ok());
  EXPECT_FALSE(fs::exists(folder / "a"));
  ASSERT_TRUE(files.Commit().ok());
  EXPECT_EQ(ReadText(folder / "a"), "onetwo");
  EXPECT_EQ(FilesIn(folder.path()), 1);
}

TEST(NewFilesTest, StreamReturnsItsProducersError) {
  const TemporaryFolder folder;
  {
    NewFiles files;
    const absl::Status status =
        files.Stream(folder / "a", [](NewFiles::Sink) { return absl::DataLossError("no more"); });
    EXPECT_TRUE(absl::IsDataLoss(status)) << status;
  }
  EXPECT_EQ(FilesIn(folder.path()), 0);
}

TEST(NewFilesTest, MissingFolderIsNamed) {
  const TemporaryFolder folder;
  NewFiles files;
  const absl::Status status = files.Write(folder / "none/a", {"x"});
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_THAT(std::string(status.message()), testing::HasSubstr(folder / "none/a"));
}

TEST(NewFilesTest, FolderInTheWayIsAnError) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "a/b");
  NewFiles files;
  ASSERT_TRUE(files.Write(folder / "a", {"x"}).ok());
  EXPECT_FALSE(files.Commit().ok());
}

TEST(NewFilesTest, DevicesAreWrittenNotReplaced) {
  NewFiles files;
  ASSERT_TRUE(files.Write("/dev/null", {"x"}).ok());
  ASSERT_TRUE(files.Commit().ok());
  EXPECT_FALSE(fs::is_regular_file("/dev/null"));
}

TEST(NewFilesTest, FullDiskIsExhausted) {
  NewFiles files;
  EXPECT_TRUE(absl::IsResourceExhausted(files.Write("/dev/full", {"x"})));
}

TEST(MakeFolderTest, MakesParentsAndTakesWhatIsThere) {
  const TemporaryFolder folder;
  EXPECT_TRUE(MakeFolder(folder / "a/b/c").ok());
  EXPECT_TRUE(MakeFolder(folder / "a/b/c").ok());
  EXPECT_TRUE(fs::is_directory(folder / "a/b/c"));
}

TEST(MakeFolderTest, FileInTheWayIsInvalid) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "file";
  EXPECT_TRUE(absl::IsInvalidArgument(MakeFolder(folder / "a")));
  EXPECT_TRUE(absl::IsInvalidArgument(MakeFolder(folder / "a/b")));
}

}  // namespace
}  // namespace onepass
