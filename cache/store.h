#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "cache/digest.h"
#include "cache/entry.h"

namespace onepass::cache {

// What Get found.
struct Hit {
  std::string payload;
  // name() of the store that had it: of a TieredStore, the tier's.
  absl::string_view served_by;
};

// Counts since the store was made, and what it holds now.
struct Stats {
  int64_t hits = 0;
  int64_t misses = 0;   // every Get that was not a hit, damaged entries included
  int64_t damaged = 0;  // entries found broken and thrown away
  int64_t puts = 0;     // successful ones
  int64_t put_failures = 0;
  int64_t evictions = 0;
  int64_t entries = 0;
  int64_t bytes = 0;  // of whole entries, kEntryOverhead included

  friend bool operator==(const Stats&, const Stats&) = default;
};

struct Listed {
  Digest digest;
  int64_t bytes = 0;
  absl::Time last_used;
};

struct Verified {
  int64_t good = 0;
  int64_t damaged = 0;  // everything in an entry's place that can never be a hit
};

// Payloads under digests. A store is an accelerator: it may lose anything at any time and never
// stops its caller, so no call here returns an error. A caller gets back exactly the bytes that
// somebody put under the same preimage, or nothing.
//
// Every method may be called from any thread at any time, and for stores that live outside the
// process also from any number of processes at once.
class Store {
 public:
  virtual ~Store() = default;

  // "memory", "disk", "remote" or "tiered"; a constant with static lifetime.
  virtual absl::string_view name() const = 0;

  // `digest` is Digest::Of(preimage). An entry whose stored preimage differs is a miss; a damaged
  // one is a miss that is counted and thrown away.
  virtual std::optional<Hit> Get(const Digest& digest, absl::string_view preimage) = 0;

  // Replaces whatever is there. Readers see the old entry, the new one or none, never a mixture.
  // An entry that cannot be kept (no room, no permission) is counted in put_failures.
  virtual void Put(const Digest& digest, absl::string_view preimage, absl::string_view payload) = 0;

  // The entry without counting a hit or making it younger; for exports.
  virtual std::optional<Entry> Read(const Digest& digest) = 0;

  // In no particular order. Costs a walk over the whole store, as do the four below.
  virtual std::vector<Listed> List() = 0;

  virtual Stats GetStats() = 0;

  // GetStats().damaged, without the walk.
  virtual int64_t Damaged() = 0;

  // Reads every entry and changes nothing.
  virtual Verified Verify() = 0;

  // Evicts the least recently used entries until the size limit holds, and removes what killed
  // writers left behind. Put does this by itself now and then.
  virtual void Trim() = 0;

  // Removes every entry.
  virtual void Clear() = 0;
};

}  // namespace onepass::cache
