#include "cache/memory_store.h"

#include <string>

#include "gtest/gtest.h"

namespace onepass::cache {
namespace {

void Put(MemoryStore& store, absl::string_view key, absl::string_view payload) {
  store.Put(Digest::Of(key), key, payload);
}

bool Has(MemoryStore& store, absl::string_view key) {
  return store.Get(Digest::Of(key), key).has_value();
}

TEST(MemoryStoreTest, EvictsTheLeastRecentlyUsed) {
  MemoryStore store(3 * (kEntryOverhead + 101));
  Put(store, "a", std::string(100, 'x'));
  Put(store, "b", std::string(100, 'x'));
  Put(store, "c", std::string(100, 'x'));
  EXPECT_TRUE(Has(store, "a"));
  Put(store, "d", std::string(100, 'x'));
  EXPECT_TRUE(Has(store, "a"));
  EXPECT_FALSE(Has(store, "b"));
  EXPECT_TRUE(Has(store, "c"));
  EXPECT_TRUE(Has(store, "d"));
}

TEST(MemoryStoreTest, BytesFollowReplacement) {
  MemoryStore store;
  Put(store, "a", std::string(100, 'x'));
  Put(store, "a", std::string(10, 'x'));
  EXPECT_EQ(store.GetStats().bytes, static_cast<int64_t>(kEntryOverhead + 11));
}

}  // namespace
}  // namespace onepass::cache
