#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "cache/store.h"

namespace onepass::cache {

// Stores behind one another, the fastest in front: memory, disk, remote. Get asks them in order,
// and a hit is copied into every store in front of the one that served it. Put writes to all.
//
// Stats count a Get once, whichever tier served it, and a Put once; damaged, put_failures and
// evictions are sums over the tiers; entries counts distinct digests and bytes adds up all copies.
class TieredStore final : public Store {
 public:
  // Owns the tiers. None at all is allowed: such a store keeps nothing.
  explicit TieredStore(std::vector<std::unique_ptr<Store>> tiers) : tiers_(std::move(tiers)) {}

  absl::string_view name() const override { return "tiered"; }
  std::optional<Hit> Get(const Digest& digest, absl::string_view preimage) override;
  void Put(const Digest& digest, absl::string_view preimage, absl::string_view payload) override;
  std::optional<Entry> Read(const Digest& digest) override;
  // Each digest once: the largest of its sizes, the latest of its times.
  std::vector<Listed> List() override;
  Stats GetStats() override;
  int64_t Damaged() override;
  Verified Verify() override;
  void Trim() override;
  void Clear() override;

  // In the order in which they are asked; owned by this store.
  const std::vector<std::unique_ptr<Store>>& tiers() const { return tiers_; }

 private:
  const std::vector<std::unique_ptr<Store>> tiers_;
  std::mutex mutex_;  // guards front_
  Stats front_;       // hits, misses and puts of this store as a whole
};

}  // namespace onepass::cache
