// The promises of cache/store.h, run over every store. A new backend is one more row of kStores.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cache/disk_store.h"
#include "cache/memory_store.h"
#include "cache/store.h"
#include "cache/tiered_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cache/scratch_folder.h"

namespace onepass::cache {
namespace {

struct Backend {
  std::string name;
  std::function<std::unique_ptr<Store>(const std::string& folder, int64_t limit_bytes)> make;
};

std::unique_ptr<Store> MakeDisk(const std::string& folder, int64_t limit_bytes) {
  return std::make_unique<DiskStore>(
      DiskStore::Options{.folder = folder, .limit_bytes = limit_bytes});
}

std::unique_ptr<Store> MakeTiered(const std::string& folder, int64_t limit_bytes) {
  std::vector<std::unique_ptr<Store>> tiers;
  tiers.push_back(std::make_unique<MemoryStore>(limit_bytes));
  tiers.push_back(MakeDisk(folder, limit_bytes));
  return std::make_unique<TieredStore>(std::move(tiers));
}

const Backend kStores[] = {
    {"memory", [](const std::string&, int64_t l) { return std::make_unique<MemoryStore>(l); }},
    {"disk", MakeDisk},
    {"tiered", MakeTiered},
};

class StoreContractTest : public testing::TestWithParam<Backend> {
 protected:
  static constexpr int64_t kRoomy = int64_t{1} << 30;

  std::unique_ptr<Store> Make(int64_t limit_bytes = kRoomy) {
    return GetParam().make(folder_.path(), limit_bytes);
  }

  ScratchFolder folder_;
};

void Put(Store& store, absl::string_view key, absl::string_view payload) {
  store.Put(Digest::Of(key), key, payload);
}

std::optional<std::string> Get(Store& store, absl::string_view key) {
  std::optional<Hit> hit = store.Get(Digest::Of(key), key);
  if (!hit.has_value()) return std::nullopt;
  return hit->payload;
}

TEST_P(StoreContractTest, IsNamedAfterItsKind) { EXPECT_EQ(Make()->name(), GetParam().name); }

TEST_P(StoreContractTest, ReturnsWhatWasPut) {
  auto store = Make();
  std::string payload("any \0 bytes \xff", 13);
  Put(*store, "key", payload);
  EXPECT_EQ(Get(*store, "key"), payload);
}

TEST_P(StoreContractTest, EmptyPayloadIsAHit) {
  auto store = Make();
  Put(*store, "key", "");
  EXPECT_EQ(Get(*store, "key"), "");
}

TEST_P(StoreContractTest, MissIsNoError) {
  auto store = Make();
  EXPECT_EQ(Get(*store, "key"), std::nullopt);
  EXPECT_EQ(store->GetStats(), (Stats{.misses = 1}));
}

TEST_P(StoreContractTest, LaterPutReplacesEarlier) {
  auto store = Make();
  Put(*store, "key", "old");
  Put(*store, "key", "new and longer");
  EXPECT_EQ(Get(*store, "key"), "new and longer");
  EXPECT_EQ(store->GetStats().entries, 1);
}

TEST_P(StoreContractTest, SameDigestWithAnotherPreimageIsAMiss) {
  auto store = Make();
  Digest digest = Digest::Of("key");
  store->Put(digest, "key", "payload");
  EXPECT_FALSE(store->Get(digest, "another key").has_value());
  EXPECT_TRUE(store->Get(digest, "key").has_value()) << "the entry itself is still good";
}

TEST_P(StoreContractTest, StatsCountEveryCall) {
  auto store = Make();
  Put(*store, "a", "1");
  Put(*store, "b", "2");
  Get(*store, "a");
  Get(*store, "a");
  Get(*store, "c");
  Stats stats = store->GetStats();
  EXPECT_EQ(stats.hits, 2);
  EXPECT_EQ(stats.misses, 1);
  EXPECT_EQ(stats.puts, 2);
  EXPECT_EQ(stats.entries, 2);
  EXPECT_GE(stats.bytes, static_cast<int64_t>(2 * (kEntryOverhead + 2)));
  EXPECT_EQ(stats.damaged + stats.put_failures + stats.evictions, 0);
}

TEST_P(StoreContractTest, ReadReturnsTheEntryAndCountsNothing) {
  auto store = Make();
  Put(*store, "key", "payload");
  EXPECT_EQ(store->Read(Digest::Of("key")), (Entry{.preimage = "key", .payload = "payload"}));
  EXPECT_EQ(store->Read(Digest::Of("other")), std::nullopt);
  EXPECT_EQ(store->GetStats().hits + store->GetStats().misses, 0);
}

TEST_P(StoreContractTest, ListNamesEveryEntryOnce) {
  auto store = Make();
  Put(*store, "a", "1");
  Put(*store, "b", "22");
  std::vector<std::pair<std::string, int64_t>> rows;
  for (const Listed& row : store->List()) rows.emplace_back(row.digest.ToHex(), row.bytes);
  int64_t overhead = kEntryOverhead;
  EXPECT_THAT(rows,
              testing::UnorderedElementsAre(testing::Pair(Digest::Of("a").ToHex(), overhead + 2),
                                            testing::Pair(Digest::Of("b").ToHex(), overhead + 3)));
}

TEST_P(StoreContractTest, VerifyFindsWholeEntriesGood) {
  auto store = Make();
  Put(*store, "a", "1");
  Put(*store, "b", "2");
  EXPECT_GE(store->Verify().good, 2);
  EXPECT_EQ(store->Verify().damaged, 0);
}

TEST_P(StoreContractTest, ClearRemovesEverything) {
  auto store = Make();
  Put(*store, "a", "1");
  store->Clear();
  EXPECT_EQ(Get(*store, "a"), std::nullopt);
  EXPECT_EQ(store->GetStats().entries, 0);
  EXPECT_EQ(store->GetStats().bytes, 0);
  Put(*store, "a", "2");
  EXPECT_EQ(Get(*store, "a"), "2");
}

TEST_P(StoreContractTest, SizeLimitHolds) {
  const int64_t limit = 10'000;
  auto store = Make(limit);
  for (int i = 0; i < 50; ++i) Put(*store, absl::StrCat("key ", i), std::string(1000, 'x'));
  int64_t bytes = 0;
  for (const Listed& row : store->List()) bytes += row.bytes;
  EXPECT_LE(bytes, limit);
  EXPECT_GE(bytes, limit / 2) << "no more is evicted than needed";
  EXPECT_GT(store->GetStats().evictions, 0);
  EXPECT_EQ(Get(*store, "key 0"), std::nullopt);
  EXPECT_NE(Get(*store, "key 49"), std::nullopt);
}

TEST_P(StoreContractTest, EntryBeyondTheLimitIsNotKeptAndEvictsNothing) {
  auto store = Make(10'000);
  Put(*store, "small", "1");
  Put(*store, "big", std::string(20'000, 'x'));
  EXPECT_EQ(Get(*store, "big"), std::nullopt);
  EXPECT_EQ(Get(*store, "small"), "1");
  EXPECT_GE(store->GetStats().put_failures, 1);
}

TEST_P(StoreContractTest, TrimKeepsWhatFits) {
  auto store = Make();
  Put(*store, "a", "1");
  store->Trim();
  EXPECT_EQ(Get(*store, "a"), "1");
}

TEST_P(StoreContractTest, ThreadsSeeWholePayloadsOnly) {
  auto store = Make();
  constexpr int kThreads = 8, kRounds = 60, kKeys = 5;
  std::atomic<int> wrong = 0, hits = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        std::string key = absl::StrCat("key ", round % kKeys);
        if (std::optional<std::string> got = Get(*store, key)) {
          ++hits;
          // Every writer fills its payload with one character.
          if (got->size() < 1000 || got->find_first_not_of(got->front()) != got->npos) ++wrong;
        }
        if (round % 3 == t % 3) Put(*store, key, std::string(1000 + 100 * t, 'a' + t));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(hits, 0);
  EXPECT_EQ(store->GetStats().damaged, 0);
  EXPECT_EQ(store->GetStats().hits + store->GetStats().misses, kThreads * kRounds);
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContractTest, testing::ValuesIn(kStores),
                         [](const auto& param) { return param.param.name; });

}  // namespace
}  // namespace onepass::cache
