#pragma once

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cache/entry.h"

namespace onepass::cache {

// Many entries in one stream, to carry a cache to machines that share no folder. Integers are
// little-endian.
//
//   archive := magic version entry* trailer
//   magic   := the eight bytes "ONEPACK\x1a"
//   version := u32, kArchiveVersion
//   entry   := as in entry.h, each with its own checksum, one after the other
//   trailer := the eight bytes "ONEPEND\x1a", count, checksum
//   count   := u64, how many entries there are
//   checksum := u64, xxHash64 of the trailer's bytes before it
//
// The count stands at the end, so that an archive can be written into a pipe, and so that one that
// was cut short between two entries is noticed. As entries do, it guards against accidents only:
// who takes in an archive runs what is in it.
inline constexpr uint32_t kArchiveVersion = 1;

// What stands before the entries (SerializeEntry), and behind `count` of them.
std::string ArchiveHeader();
std::string ArchiveTrailer(int64_t count);

struct ArchiveTally {
  int64_t good = 0;
  // Stretches that are no sound entry; where the trailer says how many entries there were, at least
  // those that are not among the good ones.
  int64_t refused = 0;
  bool complete = false;  // ends with a sound trailer
};

// Calls `take` for every sound entry, also for those behind a damaged one: reading goes on where
// the next one begins. INVALID_ARGUMENT where the bytes do not begin as an archive of this version.
absl::StatusOr<ArchiveTally> ReadArchive(absl::string_view bytes,
                                         absl::FunctionRef<void(const EntryView&)> take);

}  // namespace onepass::cache
