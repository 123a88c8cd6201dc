#include "cache/disk_store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace onepass::cache {

DiskStore::DiskStore(const Options& options)
    : folder_(Folder::Open(options.folder)),
      limit_bytes_(options.limit_bytes),
      warn_(options.warn) {
  if (!folder_.ok()) {
    WarnOnce(absl::StrCat("nothing is kept on disk: ", folder_.status().message()));
  } else if (absl::Status writable = folder_->writable(); !writable.ok()) {
    WarnOnce(absl::StrCat("the cache folder can only be read, new kernels are not kept on disk: ",
                          writable.message()));
  }
}

void DiskStore::WarnOnce(absl::string_view text) {
  if (warn_) std::call_once(warned_, warn_, text);
}

std::optional<Hit> DiskStore::Get(const Digest& digest, absl::string_view preimage) {
  absl::StatusOr<std::string> bytes =
      folder_.ok() ? folder_->ReadAndTouch(digest) : absl::StatusOr<std::string>(folder_.status());
  absl::StatusOr<EntryView> entry =
      bytes.ok() ? ParseEntry(*bytes) : absl::StatusOr<EntryView>(bytes.status());
  bool damaged = bytes.ok() && !entry.ok();
  // Between the reading and this, another process may have put a whole entry in its place. Then a
  // good one is lost, and compiled once more: cheaper than a lock.
  if (damaged) folder_->Remove(digest);
  bool hit = entry.ok() && entry->preimage == preimage;
  {
    std::lock_guard lock(mutex_);
    ++(hit ? stats_.hits : stats_.misses);
    if (damaged) ++stats_.damaged;
  }
  if (!hit) return std::nullopt;
  // In place: a second buffer of this size would cost more than reading the file.
  size_t begin = static_cast<size_t>(entry->payload.data() - bytes->data());
  bytes->resize(begin + entry->payload.size());
  bytes->erase(0, begin);
  return Hit{.payload = *std::move(bytes), .served_by = name()};
}

void DiskStore::Put(const Digest& digest, absl::string_view preimage, absl::string_view payload) {
  std::string bytes = SerializeEntry(preimage, payload);
  int64_t size = static_cast<int64_t>(bytes.size());
  // Larger than the limit is as asked for, and no news.
  if (size > limit_bytes_) return CountFailedPut(absl::OkStatus());
  const absl::Status status = folder_.ok() ? folder_->Publish(digest, bytes) : folder_.status();
  status.ok() ? CountPut(digest, size) : CountFailedPut(status);
}

void DiskStore::CountFailedPut(const absl::Status& reason) {
  {
    std::lock_guard lock(mutex_);
    ++stats_.put_failures;
  }
  // A file that vanished while it was written was somebody's clean-up.
  if (reason.ok() || absl::IsNotFound(reason)) return;
  WarnOnce(absl::StrCat("a new kernel is not kept on disk: ", reason.message()));
}

void DiskStore::CountPut(const Digest& digest, int64_t bytes) {
  {
    std::lock_guard lock(mutex_);
    ++stats_.puts;
    folder_bytes_ += bytes;
    bytes_to_next_walk_ -= bytes;
    if (bytes_to_next_walk_ >= 0 && folder_bytes_ <= limit_bytes_) return;
    // Before the walk, so that other writers go on meanwhile instead of walking as well.
    bytes_to_next_walk_ = limit_bytes_ / 16;
  }
  Evict(digest);
}

void DiskStore::Trim() {
  if (folder_.ok()) Evict(std::nullopt);
}

DiskStore::Eviction DiskStore::Evict(const std::optional<Digest>& spared) {
  std::vector<Folder::File> files = folder_->Walk();
  absl::Time stale = absl::Now() - Folder::kStaleAfter;
  int64_t total = 0;
  for (const Folder::File& file : files) {
    if (file.temporary && file.modified < stale) unlink(file.path.c_str());
    if (!file.temporary) total += file.bytes;
  }
  Eviction eviction;
  if (total > limit_bytes_) {
    // Names make the order one and the same where times are equal.
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
      return std::tie(a.modified, a.path) < std::tie(b.modified, b.path);
    });
    for (const Folder::File& file : files) {
      if (total <= limit_bytes_) break;
      if (file.temporary || (spared.has_value() && file.digest == spared)) continue;
      // What another process evicted first is gone all the same.
      if (unlink(file.path.c_str()) == 0) {
        ++eviction.entries;
        eviction.bytes += file.bytes;
      } else if (errno != ENOENT) {
        ++eviction.failed;
        continue;
      }
      total -= file.bytes;
    }
  }
  std::lock_guard lock(mutex_);
  stats_.evictions += eviction.entries;
  folder_bytes_ = total;
  return eviction;
}

absl::StatusOr<Entry> DiskStore::ReadEntry(const Digest& digest) const {
  if (!folder_.ok()) return folder_.status();
  absl::StatusOr<std::string> bytes = folder_->ReadFile(digest);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<EntryView> entry = ParseEntry(*bytes);
  if (!entry.ok()) return entry.status();
  return Entry{.preimage = std::string(entry->preimage), .payload = std::string(entry->payload)};
}

std::optional<Entry> DiskStore::Read(const Digest& digest) {
  absl::StatusOr<Entry> entry = ReadEntry(digest);
  if (!entry.ok()) return std::nullopt;
  return *std::move(entry);
}

std::vector<Listed> DiskStore::List() {
  std::vector<Listed> listed;
  if (!folder_.ok()) return listed;
  for (const Folder::File& file : folder_->Walk()) {
    if (!file.digest.has_value()) continue;
    listed.push_back({.digest = *file.digest, .bytes = file.bytes, .last_used = file.modified});
  }
  return listed;
}

Stats DiskStore::GetStats() {
  std::vector<Listed> listed = List();
  std::lock_guard lock(mutex_);
  Stats stats = stats_;
  stats.entries = static_cast<int64_t>(listed.size());
  for (const Listed& row : listed) stats.bytes += row.bytes;
  return stats;
}

int64_t DiskStore::Damaged() {
  std::lock_guard lock(mutex_);
  return stats_.damaged;
}

Verified DiskStore::Verify() {
  const Examined examined = Examine();
  return {.good = examined.good, .damaged = static_cast<int64_t>(examined.flawed.size())};
}

void DiskStore::Clear() {
  if (!folder_.ok()) return;
  for (const Folder::File& file : folder_->Walk()) {
    // A temporary file is another process's half-written entry; it leaves with the stale ones.
    if (!file.temporary) unlink(file.path.c_str());
  }
  std::lock_guard lock(mutex_);
  folder_bytes_ = 0;
}

}  // namespace onepass::cache
