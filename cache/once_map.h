#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace onepass::cache {

// Makes each key's value once per map and keeps it: the loaded kernels of a process.
//
// - One maker per key: whoever asks first makes, everybody else who asks meanwhile waits. Makers of
//   different keys run at the same time.
// - Failures are not remembered: those who waited get the maker's error, the next who asks makes.
// - A hit takes no lock and writes no shared memory: hashing the key, one acquire load and one
//   comparison of keys, from any number of threads.
// - Values stay where they are until the map dies; pointers to them stay valid as long.
//
// Key needs AbslHashValue (or a Hash) and operator==; both are copied or moved in once. All methods
// are thread safe. A maker may ask the map for other keys; asking for its own deadlocks.
template <typename Key, typename Value, typename Hash = absl::Hash<Key>>
class OnceMap {
 public:
  OnceMap() { Grow(); }
  OnceMap(const OnceMap&) = delete;
  OnceMap& operator=(const OnceMap&) = delete;

  // The value, or null where none was made yet; never waits.
  Value* Find(const Key& key) const { return FindHashed(key, Hash{}(key)); }

  // `make` is called without a lock held, at most once, and returns absl::StatusOr<Value>.
  template <typename Make>
  absl::StatusOr<Value*> GetOrMake(const Key& key, Make&& make) {
    size_t hash = Hash{}(key);
    if (Value* value = FindHashed(key, hash)) return value;
    auto [pending, is_maker] = Join(key, hash);
    if (!is_maker) return Await(*pending);
    return MakeAndPublish(key, hash, *pending, std::forward<Make>(make));
  }

  // How many values there are.
  size_t size() const {
    std::lock_guard lock(mutex_);
    return nodes_.size();
  }

 private:
  struct Node {
    size_t hash;
    Key key;
    Value value;
  };

  // Open addressing with linear probing, at most half full: a probe always ends at an empty slot.
  struct Table {
    explicit Table(size_t slots) : mask(slots - 1), slots(new std::atomic<Node*>[slots]()) {}
    const size_t mask;
    const std::unique_ptr<std::atomic<Node*>[]> slots;
  };

  // A value in the making; whoever waits holds it, so it outlives its place in pending_.
  struct Pending {
    bool done = false;
    absl::StatusOr<Value*> result = absl::InternalError("the maker threw");
  };

  Value* FindHashed(const Key& key, size_t hash) const {
    const Table& table = *table_.load(std::memory_order_acquire);
    for (size_t slot = hash & table.mask;; slot = (slot + 1) & table.mask) {
      Node* node = table.slots[slot].load(std::memory_order_acquire);
      if (node == nullptr) return nullptr;
      if (node->hash == hash && node->key == key) return &node->value;
    }
  }

  // The key's Pending, and whether the caller is to make the value. A value that appeared since
  // the caller looked comes as a Pending that is done.
  std::pair<std::shared_ptr<Pending>, bool> Join(const Key& key, size_t hash) {
    std::lock_guard lock(mutex_);
    if (Value* value = FindHashed(key, hash)) {
      auto ready = std::make_shared<Pending>();
      ready->done = true;
      ready->result = value;
      return {std::move(ready), false};
    }
    auto [place, is_new] = pending_.try_emplace(key);
    if (is_new) place->second = std::make_shared<Pending>();
    return {place->second, is_new};
  }

  absl::StatusOr<Value*> Await(Pending& pending) {
    std::unique_lock lock(mutex_);
    some_done_.wait(lock, [&] { return pending.done; });
    return pending.result;
  }

  template <typename Make>
  absl::StatusOr<Value*> MakeAndPublish(const Key& key, size_t hash, Pending& pending,
                                        Make&& make) {
    // A cleanup, because of makers that throw: nobody may wait for ever.
    absl::Cleanup release = [&] {
      std::lock_guard lock(mutex_);
      pending.done = true;
      pending_.erase(key);
      some_done_.notify_all();
    };
    absl::StatusOr<Value> made = std::forward<Make>(make)();
    std::lock_guard lock(mutex_);
    if (made.ok()) {
      pending.result = Insert(key, hash, *std::move(made));
    } else {
      pending.result = made.status();
    }
    return pending.result;
  }

  // With mutex_ held, as the two below.
  Value* Insert(const Key& key, size_t hash, Value value) {
    if (2 * (nodes_.size() + 1) > tables_.back()->mask) Grow();
    nodes_.push_back(Node{hash, key, std::move(value)});
    Place(*tables_.back(), nodes_.back());
    return &nodes_.back().value;
  }

  static void Place(Table& table, Node& node) {
    size_t slot = node.hash & table.mask;
    while (table.slots[slot].load(std::memory_order_relaxed) != nullptr) {
      slot = (slot + 1) & table.mask;
    }
    table.slots[slot].store(&node, std::memory_order_release);
  }

  // Readers may still be in the old table, so it stays; all old tables together are smaller than
  // the new one.
  void Grow() {
    size_t slots = tables_.empty() ? 64 : 2 * (tables_.back()->mask + 1);
    tables_.push_back(std::make_unique<Table>(slots));
    for (Node& node : nodes_) Place(*tables_.back(), node);
    table_.store(tables_.back().get(), std::memory_order_release);
  }

  std::atomic<Table*> table_{nullptr};
  mutable std::mutex mutex_;  // guards all below, and who writes to tables
  std::condition_variable some_done_;
  std::deque<Node> nodes_;  // a deque, for stable addresses
  std::vector<std::unique_ptr<Table>> tables_;
  absl::flat_hash_map<Key, std::shared_ptr<Pending>, Hash> pending_;
};

}  // namespace onepass::cache
