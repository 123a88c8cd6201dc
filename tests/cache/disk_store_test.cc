#include "cache/disk_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cache/scratch_folder.h"

namespace onepass::cache {
namespace {

using testing::HasSubstr;

class DiskStoreTest : public testing::Test {
 protected:
  DiskStore Make(int64_t limit_bytes = DiskStore::kDefaultLimitBytes) {
    return DiskStore({.folder = scratch_.path(), .limit_bytes = limit_bytes});
  }

  std::string PathOf(absl::string_view key) const {
    std::string hex = Digest::Of(key).ToHex();
    return scratch_.path() + "/" + hex.substr(0, 2) + "/" + hex.substr(2) + ".e1";
  }

  ScratchFolder scratch_;
};

void Put(Store& store, absl::string_view key, absl::string_view payload) {
  store.Put(Digest::Of(key), key, payload);
}

bool Has(Store& store, absl::string_view key) {
  return store.Get(Digest::Of(key), key).has_value();
}

std::string Slurp(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void Spill(const std::string& path, absl::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
}

void Age(const std::string& path, absl::Duration age) {
  timespec time = absl::ToTimespec(absl::Now() - age);
  timespec times[2] = {time, time};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(DiskStoreTest, FileIsTheDocumentedEntry) {
  DiskStore store = Make();
  Put(store, "key", "payload");
  EXPECT_EQ(Slurp(PathOf("key")), SerializeEntry("key", "payload"));
}

TEST_F(DiskStoreTest, AnotherStoreOverTheSameFolderSeesEntries) {
  DiskStore writer = Make();
  DiskStore reader = Make();
  Put(writer, "key", "payload");
  EXPECT_TRUE(Has(reader, "key"));
}

TEST_F(DiskStoreTest, DamagedEntryIsAMissThatIsCountedAndReplaced) {
  DiskStore store = Make();
  Put(store, "key", "payload");
  const std::string good = Slurp(PathOf("key"));
  std::vector<std::string> damages = {"", good.substr(0, 20), good.substr(0, good.size() - 1),
                                      good + "x", std::string(good.size(), '\0')};
  for (size_t i = 0; i < good.size(); ++i) {
    damages.push_back(good);
    damages.back()[i] = static_cast<char>(damages.back()[i] ^ 0x10);
  }
  for (size_t i = 0; i < damages.size(); ++i) {
    Spill(PathOf("key"), damages[i]);
    EXPECT_FALSE(Has(store, "key")) << "damage " << i;
    EXPECT_FALSE(std::filesystem::exists(PathOf("key"))) << "damage " << i;
  }
  EXPECT_EQ(store.GetStats().damaged, static_cast<int64_t>(damages.size()));
  EXPECT_EQ(store.GetStats().misses, static_cast<int64_t>(damages.size()));
  Put(store, "key", "payload");
  EXPECT_TRUE(Has(store, "key"));
}

TEST_F(DiskStoreTest, VerifyCountsDamageAndLeavesItAlone) {
  DiskStore store = Make();
  Put(store, "good", "1");
  Put(store, "bad", "2");
  Spill(PathOf("bad"), "garbage");
  Verified verified = store.Verify();
  EXPECT_EQ(verified.good, 1);
  EXPECT_EQ(verified.damaged, 1);
  EXPECT_TRUE(std::filesystem::exists(PathOf("bad")));
}

// One of each: cut short, under a wrong name, a folder, a link.
void MakeFlaws(const std::string& good, const std::string& shard) {
  Spill(shard + "/" + std::string(62, 'a') + ".e1", Slurp(good).substr(0, 40));
  std::filesystem::copy(good, shard + "/" + std::string(62, 'b') + ".e1");
  std::filesystem::create_directory(shard + "/" + std::string(62, 'c') + ".e1");
  std::filesystem::create_symlink(good, shard + "/" + std::string(62, 'd') + ".e1");
}

TEST_F(DiskStoreTest, ExamineFindsWhatCanNeverBeAHit) {
  using Flaw = DiskStore::Flaw;
  DiskStore store = Make();
  Put(store, "key", "payload");
  const std::string shard = std::filesystem::path(PathOf("key")).parent_path();
  MakeFlaws(PathOf("key"), shard);
  const DiskStore::Examined examined = store.Examine();
  EXPECT_EQ(examined.good, 1);
  std::vector<std::pair<char, Flaw>> found;
  for (const DiskStore::Flawed& flawed : examined.flawed) {
    found.emplace_back(flawed.path[shard.size() + 1], flawed.flaw);
    EXPECT_NE(flawed.reason, "");
  }
  EXPECT_THAT(found, testing::UnorderedElementsAre(
                         std::pair('a', Flaw::kDamaged), std::pair('b', Flaw::kMisnamed),
                         std::pair('c', Flaw::kNotAFile), std::pair('d', Flaw::kNotAFile)));
  EXPECT_EQ(store.Verify().damaged, 4);
}

TEST_F(DiskStoreTest, CollectRemovesFlawsAndLeftOversAndKeepsTheRest) {
  DiskStore store = Make();
  Put(store, "key", "payload");
  const std::string shard = std::filesystem::path(PathOf("key")).parent_path();
  MakeFlaws(PathOf("key"), shard);
  Spill(shard + "/.new-killed", "half an ent");
  Spill(shard + "/.new-writer", "half an ent");
  const int writer = open((shard + "/.new-writer").c_str(), O_RDONLY);
  ASSERT_EQ(flock(writer, LOCK_EX), 0);
  const DiskStore::Collected collected = store.Collect();
  EXPECT_EQ(collected.flawed, 4);
  EXPECT_EQ(collected.left_over, 1);
  EXPECT_EQ(collected.evicted, 0);
  EXPECT_EQ(collected.failed, 0);
  EXPECT_GE(collected.bytes, 40 + 11);
  EXPECT_FALSE(std::filesystem::exists(shard + "/.new-killed"));
  EXPECT_TRUE(std::filesystem::exists(shard + "/.new-writer")) << "its writer lives";
  EXPECT_TRUE(Has(store, "key"));
  EXPECT_EQ(store.Verify().damaged, 0);
  close(writer);
}

TEST_F(DiskStoreTest, CollectEvictsToTheLimitLeastRecentlyUsedFirst) {
  DiskStore writer = Make();
  for (const char* key : {"a", "b", "c"}) Put(writer, key, std::string(1000, 'x'));
  Age(PathOf("b"), absl::Hours(2));
  Age(PathOf("c"), absl::Hours(1));
  const DiskStore::Collected collected = Make(/*limit_bytes=*/2200).Collect();
  EXPECT_EQ(collected.evicted, 1);
  EXPECT_EQ(collected.bytes, 1000 + static_cast<int64_t>(kEntryOverhead) + 1);
  EXPECT_FALSE(Has(writer, "b"));
  EXPECT_TRUE(Has(writer, "a") && Has(writer, "c"));
}

TEST_F(DiskStoreTest, DamageIsCountedWithoutAWalk) {
  DiskStore store = Make();
  Put(store, "key", "payload");
  EXPECT_EQ(store.Damaged(), 0);
  Spill(PathOf("key"), "garbage");
  EXPECT_FALSE(Has(store, "key"));
  EXPECT_EQ(store.Damaged(), 1);
}

TEST_F(DiskStoreTest, EvictsTheLeastRecentlyUsed) {
  DiskStore store = Make(/*limit_bytes=*/3500);
  for (const char* key : {"a", "b", "c"}) Put(store, key, std::string(1000, 'x'));
  Age(PathOf("a"), absl::Hours(3));
  Age(PathOf("b"), absl::Hours(2));
  Age(PathOf("c"), absl::Hours(1));
  EXPECT_TRUE(Has(store, "a")) << "a hit makes it the youngest";
  Put(store, "d", std::string(1000, 'x'));
  EXPECT_TRUE(Has(store, "a"));
  EXPECT_FALSE(Has(store, "b"));
  EXPECT_TRUE(Has(store, "c"));
  EXPECT_TRUE(Has(store, "d"));
  EXPECT_EQ(store.GetStats().evictions, 1);
}

// File times are as coarse as a clock tick, so these are often all the same.
TEST_F(DiskStoreTest, NewestEntryIsNeverEvictedByItsOwnPut) {
  DiskStore store = Make(/*limit_bytes=*/2500);
  for (int i = 0; i < 100; ++i) {
    const std::string key = std::to_string(i);
    Put(store, key, std::string(1000, 'x'));
    EXPECT_TRUE(Has(store, key)) << i;
  }
  Put(store, "as large as the limit", std::string(2500 - kEntryOverhead - 21, 'x'));
  EXPECT_TRUE(Has(store, "as large as the limit"));
  EXPECT_EQ(store.GetStats().entries, 1);
}

TEST_F(DiskStoreTest, EvictsNoMoreThanTheLimitAsksFor) {
  const int64_t each = 1000 + kEntryOverhead + 1;
  DiskStore writer = Make();
  for (const char* key : {"a", "b", "c", "d", "e"}) Put(writer, key, std::string(1000, 'x'));
  Make(/*limit_bytes=*/5 * each).Trim();
  EXPECT_EQ(writer.GetStats().entries, 5);
  Make(/*limit_bytes=*/5 * each - 1).Trim();
  EXPECT_EQ(writer.GetStats().entries, 4);
  Make(/*limit_bytes=*/0).Trim();
  EXPECT_EQ(writer.GetStats().entries, 0);
}

TEST_F(DiskStoreTest, LimitHoldsForWhatOthersWroteToo) {
  DiskStore other = Make();
  for (const char* key : {"a", "b", "c", "d"}) Put(other, key, std::string(1000, 'x'));
  DiskStore store = Make(/*limit_bytes=*/2500);
  Put(store, "e", std::string(1000, 'x'));
  EXPECT_LE(store.GetStats().bytes, 2500);
  EXPECT_TRUE(Has(store, "e"));
}

TEST_F(DiskStoreTest, StaleTemporaryFilesGoAndYoungOnesStay) {
  DiskStore store = Make();
  Put(store, "key", "payload");
  std::string shard = std::filesystem::path(PathOf("key")).parent_path();
  Spill(shard + "/.new-stale1", "half an ent");
  Spill(shard + "/.new-young1", "half an ent");
  Age(shard + "/.new-stale1", Folder::kStaleAfter + absl::Minutes(1));
  store.Trim();
  EXPECT_FALSE(std::filesystem::exists(shard + "/.new-stale1"));
  EXPECT_TRUE(std::filesystem::exists(shard + "/.new-young1"));
  EXPECT_TRUE(Has(store, "key"));
}

TEST_F(DiskStoreTest, PutLeavesNoTemporaryFile) {
  DiskStore store = Make();
  for (int i = 0; i < 20; ++i) Put(store, "key", "payload");
  int files = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(scratch_.path())) {
    files += file.is_regular_file();
  }
  EXPECT_EQ(files, 1);
}

TEST_F(DiskStoreTest, ForeignFilesAreNeverTouched) {
  DiskStore store = Make(/*limit_bytes=*/1000);
  Put(store, "key", "payload");
  std::string shard = std::filesystem::path(PathOf("key")).parent_path();
  std::vector<std::string> foreign = {scratch_.path() + "/thesis.txt", shard + "/thesis.txt",
                                      shard + "/0123456789.e1"};
  for (const std::string& path : foreign) Spill(path, std::string(5000, 'x'));
  store.Trim();
  store.Clear();
  for (const std::string& path : foreign) EXPECT_TRUE(std::filesystem::exists(path)) << path;
}

TEST_F(DiskStoreTest, EntriesOfAnotherVersionAreNotReadButCountForTheLimit) {
  DiskStore store = Make(/*limit_bytes=*/4000);
  Put(store, "key", "payload");
  std::string other = PathOf("key");
  other.back() = '2';
  Spill(other, std::string(5000, 'x'));
  Age(other, absl::Hours(1));
  EXPECT_EQ(store.GetStats().entries, 1);
  EXPECT_EQ(store.Verify().damaged, 0);
  store.Trim();
  EXPECT_FALSE(std::filesystem::exists(other));
  EXPECT_TRUE(Has(store, "key"));
}

TEST_F(DiskStoreTest, LinksAndPipesAreNotEntries) {
  DiskStore store = Make();
  Put(store, "linked", "payload");
  Put(store, "pipe", "payload");
  std::string aside = scratch_.path() + "/aside";
  std::filesystem::rename(PathOf("linked"), aside);
  std::filesystem::create_symlink(aside, PathOf("linked"));
  std::filesystem::remove(PathOf("pipe"));
  ASSERT_EQ(mkfifo(PathOf("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(Has(store, "linked"));
  EXPECT_FALSE(Has(store, "pipe"));
}

TEST_F(DiskStoreTest, FolderRemovedMeanwhileIsMadeAgain) {
  std::string folder = scratch_.path() + "/deep/er";
  DiskStore store({.folder = folder});
  Put(store, "key", "payload");
  std::filesystem::remove_all(scratch_.path() + "/deep");
  EXPECT_FALSE(Has(store, "key"));
  Put(store, "key", "payload");
  EXPECT_TRUE(Has(store, "key"));
}

TEST_F(DiskStoreTest, UnusableFolderIsMemoryOnlyWithOneWarning) {
  Spill(scratch_.path() + "/file", "");
  for (std::string folder : {std::string(), std::string("relative/path"), scratch_.path() + "/file",
                             scratch_.path() + "/file/below"}) {
    std::vector<std::string> warnings;
    DiskStore store({.folder = folder, .warn = [&](absl::string_view text) {
                       warnings.push_back(std::string(text));
                     }});
    EXPECT_FALSE(store.usable().ok()) << folder;
    Put(store, "key", "payload");
    Put(store, "key", "payload");
    EXPECT_FALSE(Has(store, "key"));
    store.Trim();
    store.Clear();
    EXPECT_EQ(store.Verify().good, 0);
    EXPECT_EQ(store.GetStats(), (Stats{.misses = 1, .put_failures = 2}));
    EXPECT_THAT(warnings, testing::ElementsAre(HasSubstr("nothing is kept on disk")));
  }
}

}  // namespace
}  // namespace onepass::cache
