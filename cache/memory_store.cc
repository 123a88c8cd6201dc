#include "cache/memory_store.h"

#include <string>
#include <utility>

#include "absl/time/clock.h"

namespace onepass::cache {
namespace {

int64_t BytesOf(absl::string_view preimage, absl::string_view payload) {
  return static_cast<int64_t>(kEntryOverhead + preimage.size() + payload.size());
}

int64_t BytesOf(const Entry& entry) { return BytesOf(entry.preimage, entry.payload); }

}  // namespace

std::optional<Hit> MemoryStore::Get(const Digest& digest, absl::string_view preimage) {
  std::lock_guard lock(mutex_);
  auto found = by_digest_.find(digest);
  if (found == by_digest_.end() || found->second->entry.preimage != preimage) {
    ++stats_.misses;
    return std::nullopt;
  }
  ++stats_.hits;
  recency_.splice(recency_.begin(), recency_, found->second);
  found->second->last_used = absl::Now();
  return Hit{.payload = found->second->entry.payload, .served_by = name()};
}

void MemoryStore::Put(const Digest& digest, absl::string_view preimage, absl::string_view payload) {
  int64_t bytes = BytesOf(preimage, payload);
  std::lock_guard lock(mutex_);
  if (bytes > limit_bytes_) {
    ++stats_.put_failures;
    return;
  }
  auto found = by_digest_.find(digest);
  if (found != by_digest_.end()) Remove(found->second);
  while (stats_.bytes + bytes > limit_bytes_) {
    Remove(std::prev(recency_.end()));
    ++stats_.evictions;
  }
  recency_.push_front(
      {.digest = digest,
       .entry = {.preimage = std::string(preimage), .payload = std::string(payload)},
       .last_used = absl::Now()});
  by_digest_[digest] = recency_.begin();
  ++stats_.puts;
  ++stats_.entries;
  stats_.bytes += bytes;
}

void MemoryStore::Remove(Recency::iterator held) {
  --stats_.entries;
  stats_.bytes -= BytesOf(held->entry);
  by_digest_.erase(held->digest);
  recency_.erase(held);
}

std::optional<Entry> MemoryStore::Read(const Digest& digest) {
  std::lock_guard lock(mutex_);
  auto found = by_digest_.find(digest);
  if (found == by_digest_.end()) return std::nullopt;
  return found->second->entry;
}

std::vector<Listed> MemoryStore::List() {
  std::lock_guard lock(mutex_);
  std::vector<Listed> listed;
  listed.reserve(recency_.size());
  for (const Held& held : recency_) {
    listed.push_back(
        {.digest = held.digest, .bytes = BytesOf(held.entry), .last_used = held.last_used});
  }
  return listed;
}

Stats MemoryStore::GetStats() {
  std::lock_guard lock(mutex_);
  return stats_;
}

Verified MemoryStore::Verify() { return {.good = GetStats().entries, .damaged = 0}; }

void MemoryStore::Clear() {
  std::lock_guard lock(mutex_);
  recency_.clear();
  by_digest_.clear();
  stats_.entries = 0;
  stats_.bytes = 0;
}

}  // namespace onepass::cache
