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
// by the files' modification times; eviction stops at nine tenths of the limit.
//
// A folder that cannot be used (no HOME, not creatable, another user's) gives a store that holds
// nothing: Gets miss, Puts are counted as failures. A folder that can only be read serves hits.
class DiskStore final : public Store {
 public:
  static constexpr int64_t kDefaultLimitBytes = int64_t{1} << 30;

  struct Options {
    std::string folder;  // absolute; empty where there is none (HOME unset)
    int64_t limit_bytes = kDefaultLimitBytes;
    // Called once, by the constructor, where the folder cannot be used; one line without an end.
    // Empty: nobody is told.
    std::function<void(absl::string_view)> warn = nullptr;
  };

  explicit DiskStore(const Options& options);

  // Why this store holds nothing, or OK.
  absl::Status usable() const { return folder_.status(); }

  absl::string_view name() const override { return "disk"; }
  std::optional<Hit> Get(const Digest& digest, absl::string_view preimage) override;
  void Put(const Digest& digest, absl::string_view preimage, absl::string_view payload) override;
  std::optional<Entry> Read(const Digest& digest) override;
  std::vector<Listed> List() override;
  Stats GetStats() override;
  Verified Verify() override;
  void Trim() override;
  void Clear() override;

 private:
  // DATA_LOSS: there is one and it is damaged.
  absl::StatusOr<Entry> ReadEntry(const Digest& digest) const;
  void CountPut(int64_t bytes);

  const absl::StatusOr<Folder> folder_;
  const int64_t limit_bytes_;

  std::mutex mutex_;  // guards all below
  Stats stats_;
  int64_t folder_bytes_ = 0;  // at the last walk, plus what was put since
  int64_t bytes_to_next_walk_ = 0;
};

}  // namespace onepass::cache
