// Several processes over one folder, some of them killed in the middle of writing.

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "cache/disk_store.h"
#include "gtest/gtest.h"
#include "tests/cache/child_process.h"
#include "tests/cache/scratch_folder.h"

namespace onepass::cache {
namespace {

constexpr int kKeys = 4;

std::string KeyOf(int i) { return absl::StrCat("key ", i % kKeys); }

// Writes and reads the same few keys; 1 where a payload was not one writer's own.
int WriteAndRead(const std::string& folder, int writer, int rounds) {
  DiskStore store({.folder = folder});
  for (int round = 0; round < rounds; ++round) {
    std::string key = KeyOf(round);
    store.Put(Digest::Of(key), key, std::string(20'000 + 1000 * writer, 'a' + writer));
    std::string other = KeyOf(round + writer);
    std::optional<Hit> hit = store.Get(Digest::Of(other), other);
    if (!hit.has_value()) continue;
    size_t expected = 20'000 + 1000 * static_cast<size_t>(hit->payload[0] - 'a');
    if (hit->payload != std::string(expected, hit->payload[0])) return 1;
  }
  Stats stats = store.GetStats();
  return stats.damaged == 0 && stats.put_failures == 0 && stats.hits > 0 ? 0 : 2;
}

TEST(DiskProcessesTest, WritersOfTheSameKeysDoNotDisturbEachOther) {
  ScratchFolder scratch;
  std::vector<pid_t> children;
  for (int writer = 0; writer < 6; ++writer) {
    children.push_back(StartChild([&] { return WriteAndRead(scratch.path(), writer, 40); }));
  }
  for (pid_t child : children) EXPECT_EQ(WaitForChild(child), 0);
  DiskStore store({.folder = scratch.path()});
  EXPECT_EQ(store.Verify().good, kKeys);
  EXPECT_EQ(store.Verify().damaged, 0);
}

TEST(DiskProcessesTest, KilledWriterLeavesWholeEntriesAndNoLock) {
  ScratchFolder scratch;
  for (int kill_after_ms = 1; kill_after_ms <= 20; ++kill_after_ms) {
    pid_t child = StartChild([&] { return WriteAndRead(scratch.path(), 1, 1'000'000); });
    absl::SleepFor(absl::Milliseconds(kill_after_ms));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(WaitForChild(child), -1);
    EXPECT_EQ(DiskStore({.folder = scratch.path()}).Verify().damaged, 0);
  }
  EXPECT_EQ(WriteAndRead(scratch.path(), 2, kKeys), 0) << "whoever comes next writes as ever";
}

TEST(DiskProcessesTest, CollectTakesNothingFromLivingWriters) {
  ScratchFolder scratch;
  std::vector<pid_t> children;
  for (int writer = 0; writer < 3; ++writer) {
    children.push_back(StartChild([&] { return WriteAndRead(scratch.path(), writer, 60); }));
  }
  DiskStore store({.folder = scratch.path()});
  for (int round = 0; round < 30; ++round) {
    EXPECT_EQ(store.Collect().flawed, 0);
    absl::SleepFor(absl::Milliseconds(2));
  }
  for (pid_t child : children) EXPECT_EQ(WaitForChild(child), 0);
}

}  // namespace
}  // namespace onepass::cache
