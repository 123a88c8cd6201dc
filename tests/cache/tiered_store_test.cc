#include "cache/tiered_store.h"

#include <memory>
#include <string>
#include <vector>

#include "cache/disk_store.h"
#include "cache/memory_store.h"
#include "gtest/gtest.h"
#include "tests/cache/scratch_folder.h"

namespace onepass::cache {
namespace {

class TieredStoreTest : public testing::Test {
 protected:
  std::unique_ptr<TieredStore> MemoryOverDisk(const std::string& folder) {
    std::vector<std::unique_ptr<Store>> tiers;
    tiers.push_back(std::make_unique<MemoryStore>());
    tiers.push_back(std::make_unique<DiskStore>(DiskStore::Options{.folder = folder}));
    return std::make_unique<TieredStore>(std::move(tiers));
  }

  static std::string ServedBy(Store& store) {
    std::optional<Hit> hit = store.Get(Digest::Of("key"), "key");
    return hit.has_value() ? std::string(hit->served_by) : "nobody";
  }

  ScratchFolder folder_;
};

TEST_F(TieredStoreTest, HitInALowerTierFillsTheUpper) {
  MemoryOverDisk(folder_.path())->Put(Digest::Of("key"), "key", "payload");
  auto later = MemoryOverDisk(folder_.path());
  EXPECT_EQ(ServedBy(*later), "disk");
  EXPECT_EQ(ServedBy(*later), "memory");
  EXPECT_EQ(later->GetStats().hits, 2);
  EXPECT_EQ(later->GetStats().puts, 0) << "filling up is not a put";
}

TEST_F(TieredStoreTest, PutReachesEveryTier) {
  auto store = MemoryOverDisk(folder_.path());
  store->Put(Digest::Of("key"), "key", "payload");
  for (const auto& tier : store->tiers()) {
    EXPECT_TRUE(tier->Get(Digest::Of("key"), "key").has_value()) << tier->name();
  }
}

TEST_F(TieredStoreTest, WithoutADiskMemoryStillServes) {
  auto store = MemoryOverDisk("");
  store->Put(Digest::Of("key"), "key", "payload");
  EXPECT_EQ(ServedBy(*store), "memory");
  EXPECT_EQ(store->GetStats().put_failures, 1);
}

TEST_F(TieredStoreTest, WithoutTiersNothingIsKept) {
  TieredStore store({});
  store.Put(Digest::Of("key"), "key", "payload");
  EXPECT_EQ(ServedBy(store), "nobody");
}

}  // namespace
}  // namespace onepass::cache
