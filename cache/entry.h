#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace onepass::cache {

// How one entry looks in a file, on the wire and in an export. Integers are little-endian.
//
//   entry         := magic version preimage_size payload_size preimage payload checksum
//   magic         := the eight bytes "ONEPASS\x1a"
//   version       := u32, kEntryVersion
//   preimage_size := u64, bytes of preimage
//   payload_size  := u64, bytes of payload
//   preimage      := what the entry's digest was taken of (PreimageOf)
//   payload       := bytes that only the caller understands
//   checksum      := u64, xxHash64 of every byte before it
//
// The checksum is against accidents (a crash, a full disk, bad memory), not against an attacker:
// who may write an entry may also sign it. That guard is the folder's owner (DiskStore).
inline constexpr uint32_t kEntryVersion = 1;
inline constexpr absl::string_view kEntryMagic("ONEPASS\x1a", 8);

// Bytes of an entry that are neither preimage nor payload.
inline constexpr size_t kEntryOverhead = 8 + 4 + 8 + 8 + 8;

struct Entry {
  std::string preimage;
  std::string payload;

  friend bool operator==(const Entry&, const Entry&) = default;
};

// Pieces of a parsed entry; they point into the parsed bytes.
struct EntryView {
  absl::string_view preimage;
  absl::string_view payload;
};

// What an entry and an archive are guarded by.
uint64_t ChecksumOf(absl::string_view bytes);

std::string SerializeEntry(absl::string_view preimage, absl::string_view payload);

// Accepts exactly what SerializeEntry wrote. Anything else (another version, a length that does not
// add up, bytes missing or left over, a wrong checksum) is DATA_LOSS with the reason. No length is
// trusted before it was checked against the bytes that are there.
absl::StatusOr<EntryView> ParseEntry(absl::string_view bytes);

// How long the entry is that `bytes` begin with, by its lengths, which nothing has confirmed yet; 0
// where they do not begin with an entry's header or are shorter than that.
size_t DeclaredSize(absl::string_view bytes);

}  // namespace onepass::cache
