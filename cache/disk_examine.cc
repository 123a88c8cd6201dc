// The parts of DiskStore that look at every entry.
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cache/disk_store.h"

namespace onepass::cache {

DiskStore::Examined DiskStore::Examine() const {
  Examined examined;
  if (!folder_.ok()) return examined;
  for (Folder::File& file : folder_->Walk()) {
    if (!file.digest.has_value()) continue;
    const absl::StatusOr<Entry> entry = ReadEntry(*file.digest);
    if (absl::IsNotFound(entry.status())) continue;  // gone meanwhile, or another user's
    Flawed flawed{
        .path = std::move(file.path), .flaw = Flaw::kDamaged, .reason = "", .bytes = file.bytes};
    if (!entry.ok()) {
      if (!absl::IsDataLoss(entry.status())) flawed.flaw = Flaw::kUnreadable;
      flawed.reason = std::string(entry.status().message());
    } else if (const Digest digest = Digest::Of(entry->preimage); digest != *file.digest) {
      flawed.flaw = Flaw::kMisnamed;
      flawed.reason = absl::StrCat("is the entry of ", digest.ToHex());
    } else {
      ++examined.good;
      continue;
    }
    examined.flawed.push_back(std::move(flawed));
  }
  for (Folder::File& intruder : folder_->Intruders()) {
    if (!intruder.digest.has_value()) continue;
    examined.flawed.push_back(
        {.path = std::move(intruder.path), .flaw = Flaw::kNotAFile, .reason = "is no file"});
  }
  return examined;
}

DiskStore::Collected DiskStore::Collect() {
  Collected collected;
  if (!folder_.ok()) return collected;
  const auto remove = [&](const std::string& path, int64_t bytes, int64_t& count) {
    std::error_code error;
    // Links themselves, never what they lead to; folders only where they are empty.
    if (std::filesystem::remove(path, error)) {
      ++count;
      collected.bytes += bytes;
    } else if (error) {
      ++collected.failed;
    }
  };
  for (const Flawed& flawed : Examine().flawed) {
    if (flawed.flaw != Flaw::kUnreadable) remove(flawed.path, flawed.bytes, collected.flawed);
  }
  for (const Folder::File& file : folder_->Walk()) {
    if (file.temporary && Folder::IsLeftOver(file)) {
      remove(file.path, file.bytes, collected.left_over);
    }
  }
  const Eviction eviction = Evict(std::nullopt);
  collected.evicted = eviction.entries;
  collected.bytes += eviction.bytes;
  collected.failed += eviction.failed;
  return collected;
}

}  // namespace onepass::cache
