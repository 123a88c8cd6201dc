#include "cache/tiered_store.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

namespace onepass::cache {

std::optional<Hit> TieredStore::Get(const Digest& digest, absl::string_view preimage) {
  for (size_t i = 0; i < tiers_.size(); ++i) {
    std::optional<Hit> hit = tiers_[i]->Get(digest, preimage);
    if (!hit.has_value()) continue;
    for (size_t above = 0; above < i; ++above) tiers_[above]->Put(digest, preimage, hit->payload);
    std::lock_guard lock(mutex_);
    ++front_.hits;
    return hit;
  }
  std::lock_guard lock(mutex_);
  ++front_.misses;
  return std::nullopt;
}

void TieredStore::Put(const Digest& digest, absl::string_view preimage, absl::string_view payload) {
  for (const auto& tier : tiers_) tier->Put(digest, preimage, payload);
  std::lock_guard lock(mutex_);
  ++front_.puts;
}

std::optional<Entry> TieredStore::Read(const Digest& digest) {
  for (const auto& tier : tiers_) {
    std::optional<Entry> entry = tier->Read(digest);
    if (entry.has_value()) return entry;
  }
  return std::nullopt;
}

std::vector<Listed> TieredStore::List() {
  absl::flat_hash_map<Digest, Listed> merged;
  for (const auto& tier : tiers_) {
    for (const Listed& listed : tier->List()) {
      Listed& row = merged.try_emplace(listed.digest, listed).first->second;
      row.bytes = std::max(row.bytes, listed.bytes);
      row.last_used = std::max(row.last_used, listed.last_used);
    }
  }
  std::vector<Listed> rows;
  rows.reserve(merged.size());
  for (const auto& [digest, row] : merged) rows.push_back(row);
  return rows;
}

Stats TieredStore::GetStats() {
  Stats total;
  {
    std::lock_guard lock(mutex_);
    total = front_;
  }
  for (const auto& tier : tiers_) {
    Stats stats = tier->GetStats();
    total.damaged += stats.damaged;
    total.put_failures += stats.put_failures;
    total.evictions += stats.evictions;
    total.bytes += stats.bytes;
  }
  total.entries = static_cast<int64_t>(List().size());
  return total;
}

int64_t TieredStore::Damaged() {
  int64_t damaged = 0;
  for (const auto& tier : tiers_) damaged += tier->Damaged();
  return damaged;
}

Verified TieredStore::Verify() {
  Verified total;
  for (const auto& tier : tiers_) {
    Verified verified = tier->Verify();
    total.good += verified.good;
    total.damaged += verified.damaged;
  }
  return total;
}

void TieredStore::Trim() {
  for (const auto& tier : tiers_) tier->Trim();
}

void TieredStore::Clear() {
  for (const auto& tier : tiers_) tier->Clear();
}

}  // namespace onepass::cache
