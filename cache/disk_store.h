#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cache/folder.h"
#include "cache/store.h"

namespace onepass::cache {

// Entries in a Folder that all processes of a user, or of a team, share.
//
// The size limit holds for the folder, whoever wrote the entries: a process counts what it adds and
// looks at the whole folder at its first Put and again after every sixteenth of the limit, so that
// N writers together overshoot by at most N sixteenths. Evicted is what has not been read longest,
// by the files' modification times, until the limit holds; a Put never evicts its own entry.
//
// A folder that cannot be used (no HOME, not creatable, another user's) gives a store that holds
// nothing: Gets miss, Puts are counted as failures. A folder that can only be read serves hits.
class DiskStore final : public Store {
 public:
  static constexpr int64_t kDefaultLimitBytes = int64_t{1} << 30;

  struct Options {
    std::string folder;  // absolute; empty where there is none (HOME unset)
    int64_t limit_bytes = kDefaultLimitBytes;
    // Called once, one line without an end: by the constructor, where the folder cannot be used or
    // can only be read, else by the first Put that the folder does not take, on that Put's thread.
    // Empty: nobody is told.
    std::function<void(absl::string_view)> warn = nullptr;
  };

  // What stands in an entry's place and can never be a hit.
  enum class Flaw {
    kDamaged,     // a file that is no entry: cut short, altered, of no known form
    kMisnamed,    // a sound entry, but of another digest than its name says
    kNotAFile,    // a folder, a link, a pipe
    kUnreadable,  // nobody lets us look
  };
  struct Flawed {
    std::string path;
    Flaw flaw;
    std::string reason;
    int64_t bytes = 0;
  };
  struct Examined {
    int64_t good = 0;
    std::vector<Flawed> flawed = {};
  };

  // What Collect removed, and what it would have but could not.
  struct Collected {
    int64_t flawed = 0;
    int64_t left_over = 0;  // temporary files whose writers are gone
    int64_t evicted = 0;
    int64_t bytes = 0;  // of all these
    int64_t failed = 0;
  };

  explicit DiskStore(const Options& options);

  // Why this store holds nothing, or OK.
  absl::Status usable() const { return folder_.status(); }
  // Why nothing can be put, as far as permissions tell, or OK.
  absl::Status writable() const { return folder_.ok() ? folder_->writable() : folder_.status(); }

  // Verify with all its findings; reads every entry and changes nothing.
  Examined Examine() const;
  // Removes flawed entries (but for unreadable ones) and left-over temporary files, then evicts the
  // least recently used entries until the size limit holds.
  Collected Collect();

  absl::string_view name() const override { return "disk"; }
  std::optional<Hit> Get(const Digest& digest, absl::string_view preimage) override;
  void Put(const Digest& digest, absl::string_view preimage, absl::string_view payload) override;
  std::optional<Entry> Read(const Digest& digest) override;
  std::vector<Listed> List() override;
  Stats GetStats() override;
  int64_t Damaged() override;
  Verified Verify() override;
  void Trim() override;
  void Clear() override;

 private:
  // DATA_LOSS: there is one and it is damaged.
  absl::StatusOr<Entry> ReadEntry(const Digest& digest) const;
  void CountPut(const Digest& digest, int64_t bytes);
  void CountFailedPut(const absl::Status& reason);
  // Evicts until the limit holds, sparing one entry.
  struct Eviction {
    int64_t entries = 0, bytes = 0, failed = 0;
  };
  Eviction Evict(const std::optional<Digest>& spared);
  void WarnOnce(absl::string_view text);

  const absl::StatusOr<Folder> folder_;
  const int64_t limit_bytes_;
  const std::function<void(absl::string_view)> warn_;
  std::once_flag warned_;

  std::mutex mutex_;  // guards all below
  Stats stats_;
  int64_t folder_bytes_ = 0;  // at the last walk, plus what was put since
  int64_t bytes_to_next_walk_ = 0;
};

}  // namespace onepass::cache
