#include "cache/archive.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cache/little_endian.h"

namespace onepass::cache {
namespace {

constexpr absl::string_view kMagic("ONEPACK\x1a", 8);
constexpr absl::string_view kTrailerMagic("ONEPEND\x1a", 8);
constexpr size_t kHeaderBytes = 8 + 4;
constexpr size_t kTrailerBytes = 8 + 8 + 8;

std::optional<int64_t> ParseTrailer(absl::string_view bytes) {
  if (bytes.size() != kTrailerBytes || !absl::StartsWith(bytes, kTrailerMagic)) return std::nullopt;
  const int64_t count = static_cast<int64_t>(ReadU64(bytes.substr(kTrailerMagic.size())));
  if (count < 0 || bytes != ArchiveTrailer(count)) return std::nullopt;
  return count;
}

// The sound entry that `bytes` begin with, with its size.
std::optional<EntryView> FirstEntry(absl::string_view bytes, size_t& size) {
  size = DeclaredSize(bytes);
  if (size == 0) return std::nullopt;
  absl::StatusOr<EntryView> entry = ParseEntry(bytes.substr(0, size));
  if (!entry.ok()) return std::nullopt;
  return *entry;
}

// Where the next entry or trailer may begin, after the first byte.
size_t NextStart(absl::string_view bytes) {
  return std::min({bytes.find(kEntryMagic, 1), bytes.find(kTrailerMagic, 1), bytes.size()});
}

}  // namespace

std::string ArchiveHeader() {
  std::string bytes(kMagic);
  AppendU32(kArchiveVersion, bytes);
  return bytes;
}

std::string ArchiveTrailer(int64_t count) {
  std::string bytes(kTrailerMagic);
  AppendU64(static_cast<uint64_t>(count), bytes);
  AppendU64(ChecksumOf(bytes), bytes);
  return bytes;
}

absl::StatusOr<ArchiveTally> ReadArchive(absl::string_view bytes,
                                         absl::FunctionRef<void(const EntryView&)> take) {
  if (bytes.size() < kHeaderBytes || !absl::StartsWith(bytes, kMagic)) {
    return absl::InvalidArgumentError("is no archive of cache entries");
  }
  const uint32_t version = ReadU32(bytes.substr(kMagic.size()));
  if (version != kArchiveVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("is an archive of version ", version, ", not ", kArchiveVersion));
  }
  ArchiveTally tally;
  for (bytes.remove_prefix(kHeaderBytes); !bytes.empty();) {
    if (const std::optional<int64_t> count = ParseTrailer(bytes)) {
      tally.complete = true;
      tally.refused = std::max(tally.refused, *count - tally.good);
      break;
    }
    size_t size = 0;
    if (const std::optional<EntryView> entry = FirstEntry(bytes, size)) {
      take(*entry);
      ++tally.good;
      bytes.remove_prefix(size);
    } else {
      ++tally.refused;
      bytes.remove_prefix(NextStart(bytes));
    }
  }
  return tally;
}

}  // namespace onepass::cache
