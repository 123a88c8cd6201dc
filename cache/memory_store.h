#ifndef ONEPASS_CACHE_MEMORY_STORE_H_
#define ONEPASS_CACHE_MEMORY_STORE_H_

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
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

  void Remove(Recency::iterator held) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const int64_t limit_bytes_;
  absl::Mutex mutex_;
  Recency recency_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_map<Digest, Recency::iterator> by_digest_ ABSL_GUARDED_BY(mutex_);
  Stats stats_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace onepass::cache

#endif  // ONEPASS_CACHE_MEMORY_STORE_H_
