#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cache/store.h"

namespace onepass::cache {

// Entries in this process's memory, the least recently used one evicted first. An entry larger
// than the whole limit is not kept (a put failure). Nothing in here can be damaged.
class MemoryStore final : public Store {
 public:
  static constexpr int64_t kDefaultLimitBytes = int64_t{256} << 20;

  explicit MemoryStore(int64_t limit_bytes = kDefaultLimitBytes) : limit_bytes_(limit_bytes) {}

  absl::string_view name() const override { return "memory"; }
  std::optional<Hit> Get(const Digest& digest, absl::string_view preimage) override;
  void Put(const Digest& digest, absl::string_view preimage, absl::string_view payload) override;
  std::optional<Entry> Read(const Digest& digest) override;
  std::vector<Listed> List() override;
  Stats GetStats() override;
  int64_t Damaged() override { return 0; }
  Verified Verify() override;
  void Trim() override {}
  void Clear() override;

 private:
  struct Held {
    Digest digest;
    Entry entry;
    absl::Time last_used;
  };
  using Recency = std::list<Held>;  // the most recently used one in front

  void Remove(Recency::iterator held);  // with mutex_ held

  const int64_t limit_bytes_;
  std::mutex mutex_;  // guards all below
  Recency recency_;
  absl::flat_hash_map<Digest, Recency::iterator> by_digest_;
  Stats stats_;
};

}  // namespace onepass::cache
