#include "cache/folder.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "cache/disk_store.h"
#include "gtest/gtest.h"
#include "tests/cache/child_process.h"
#include "tests/cache/scratch_folder.h"

namespace onepass::cache {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 0777;
}

const Digest kDigest = Digest::Of("key");

std::string ShardPath(const std::string& folder) {
  return folder + "/" + kDigest.ToHex().substr(0, 2);
}

std::string FilePath(const std::string& folder) {
  return ShardPath(folder) + "/" + kDigest.ToHex().substr(2) + ".e1";
}

TEST(FolderTest, IsCreatedForItsOwnerOnly) {
  ScratchFolder scratch;
  std::string path = scratch.path() + "/cache/onepass";
  absl::StatusOr<Folder> folder = Folder::Open(path);
  ASSERT_TRUE(folder.ok()) << folder.status();
  ASSERT_TRUE(folder->Publish(kDigest, "bytes").ok());
  EXPECT_EQ(ModeOf(scratch.path() + "/cache"), 0700);
  EXPECT_EQ(ModeOf(path), 0700);
  EXPECT_EQ(ModeOf(ShardPath(path)), 0700);
  EXPECT_EQ(ModeOf(FilePath(path)), 0600);
}

TEST(FolderTest, FilesOfATeamsFolderAreTheTeams) {
  ScratchFolder scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 0770), 0);
  absl::StatusOr<Folder> folder = Folder::Open(scratch.path());
  ASSERT_TRUE(folder.ok() && folder->Publish(kDigest, "bytes").ok());
  EXPECT_EQ(ModeOf(ShardPath(scratch.path())), 0770);
  EXPECT_EQ(ModeOf(FilePath(scratch.path())), 0660);
}

TEST(FolderTest, FilesAreNeverWritableByOthers) {
  ScratchFolder scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 0777), 0);
  absl::StatusOr<Folder> folder = Folder::Open(scratch.path());
  ASSERT_TRUE(folder.ok() && folder->Publish(kDigest, "bytes").ok());
  EXPECT_EQ(ModeOf(ShardPath(scratch.path())) & 0002, 0);
  EXPECT_EQ(ModeOf(FilePath(scratch.path())) & 0002, 0);
}

// Everybody may write there and it is not this user's: root makes one, others know one.
std::string WorldWritableFolderOfAnotherUser(const ScratchFolder& scratch) {
  if (geteuid() != 0) return std::filesystem::temp_directory_path();
  EXPECT_EQ(chown(scratch.path().c_str(), kOrdinaryUser, kOrdinaryUser), 0);
  EXPECT_EQ(chmod(scratch.path().c_str(), 0777), 0);
  return scratch.path();
}

TEST(FolderTest, WorldWritableFolderOfAnotherUserIsRefusedWithOneWarning) {
  ScratchFolder scratch;
  int warnings = 0;
  DiskStore store({.folder = WorldWritableFolderOfAnotherUser(scratch),
                   .warn = [&](absl::string_view) { ++warnings; }});
  EXPECT_EQ(store.usable().code(), absl::StatusCode::kPermissionDenied);
  store.Put(kDigest, "key", "payload");
  EXPECT_FALSE(store.Get(kDigest, "key").has_value());
  EXPECT_EQ(warnings, 1);
}

TEST(FolderTest, EntriesOfOtherUsersInAWorldWritableFolderDoNotExist) {
  ScratchFolder scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 0777), 0);
  absl::StatusOr<Folder> folder = Folder::Open(scratch.path());
  ASSERT_TRUE(folder.ok() && folder->Publish(kDigest, "bytes").ok());
  EXPECT_TRUE(folder->ReadFile(kDigest).ok());
  // Only root can hand a file to another user; for others the rule is checked from the other side.
  if (geteuid() == 0) {
    ASSERT_EQ(chown(FilePath(scratch.path()).c_str(), kOrdinaryUser, kOrdinaryUser), 0);
    EXPECT_TRUE(absl::IsNotFound(folder->ReadFile(kDigest).status()));
  }
}

TEST(FolderTest, ReadOnlyFolderServesHitsAndCountsFailedPuts) {
  ScratchFolder scratch;
  std::string path = scratch.path() + "/cache";
  DiskStore({.folder = path}).Put(kDigest, "key", "payload");
  ASSERT_EQ(chmod(FilePath(path).c_str(), 0444), 0);
  ASSERT_EQ(chmod(ShardPath(path).c_str(), 0555), 0);
  ASSERT_EQ(chmod(path.c_str(), 0555), 0);
  ASSERT_EQ(chmod(scratch.path().c_str(), 0755), 0);
  EXPECT_EQ(RunAsOrdinaryUser([&] {
              int warnings = 0;
              DiskStore store({.folder = path, .warn = [&](absl::string_view) { ++warnings; }});
              if (!store.usable().ok() || store.writable().ok()) return 1;
              if (warnings != 1) return 5;
              if (!store.Get(kDigest, "key").has_value()) return 2;
              store.Put(kDigest, "key", "other");
              store.Put(Digest::Of("new"), "new", "other");
              if (store.GetStats().put_failures != 2) return 3;
              if (store.Get(kDigest, "key")->payload != "payload") return 4;
              if (store.Collect().failed != 0) return 6;  // there is nothing to remove
              return warnings == 1 ? 0 : 7;
            }),
            0);
  chmod(path.c_str(), 0755);
  chmod(ShardPath(path).c_str(), 0755);
}

TEST(FolderTest, FolderThatMayNotBeCreatedIsUnusable) {
  ScratchFolder scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 0555), 0);
  EXPECT_EQ(RunAsOrdinaryUser([&] { return Folder::Open(scratch.path() + "/cache").ok() ? 1 : 0; }),
            0);
  chmod(scratch.path().c_str(), 0755);
}

TEST(FolderTest, FolderThatMayNotBeReadIsUnusable) {
  ScratchFolder scratch;
  ASSERT_EQ(chmod(scratch.path().c_str(), 0711), 0);
  // As root the child is another user; others take their own folder's permissions away.
  if (geteuid() != 0) {
    ASSERT_EQ(chmod(scratch.path().c_str(), 0311), 0);
  }
  EXPECT_EQ(RunAsOrdinaryUser([&] {
              return absl::IsPermissionDenied(Folder::Open(scratch.path()).status()) ? 0 : 1;
            }),
            0);
  chmod(scratch.path().c_str(), 0755);
}

TEST(FolderTest, FullDiskLosesTheEntryAndLeavesNothingBehind) {
  ScratchFolder scratch;
  EXPECT_EQ(
      WaitForChild(StartChild([&] {
        int warnings = 0;
        DiskStore store({.folder = scratch.path(), .warn = [&](absl::string_view) { ++warnings; }});
        store.Put(kDigest, "key", "fits");
        if (warnings != 0) return 4;
        // A file size limit fails a write half way through, as a full disk does.
        signal(SIGXFSZ, SIG_IGN);
        rlimit limit = {.rlim_cur = 1000, .rlim_max = 1000};
        if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
        store.Put(kDigest, "key", std::string(5000, 'x'));
        store.Put(kDigest, "key", std::string(5000, 'y'));
        if (store.GetStats().put_failures != 2 || warnings != 1) return 2;
        std::optional<Hit> hit = store.Get(kDigest, "key");
        return hit.has_value() && hit->payload == "fits" ? 0 : 3;
      })),
      0);
  absl::StatusOr<Folder> folder = Folder::Open(scratch.path());
  ASSERT_TRUE(folder.ok());
  for (const Folder::File& file : folder->Walk()) EXPECT_FALSE(file.temporary) << file.path;
}

TEST(FolderTest, HugeFileIsNotReadIntoMemory) {
  ScratchFolder scratch;
  absl::StatusOr<Folder> folder = Folder::Open(scratch.path());
  ASSERT_TRUE(folder.ok() && folder->Publish(kDigest, "bytes").ok());
  ASSERT_EQ(truncate(FilePath(scratch.path()).c_str(), int64_t{1} << 40), 0);
  absl::StatusOr<std::string> bytes = folder->ReadFile(kDigest);
  ASSERT_TRUE(bytes.ok());
  EXPECT_TRUE(bytes->empty());
}

}  // namespace
}  // namespace onepass::cache
