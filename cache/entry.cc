#include "cache/entry.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cache/little_endian.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

namespace onepass::cache {
namespace {

constexpr size_t kHeaderBytes = 8 + 4 + 8 + 8;
constexpr size_t kChecksumBytes = 8;
static_assert(kHeaderBytes + kChecksumBytes == kEntryOverhead);

}  // namespace

uint64_t ChecksumOf(absl::string_view bytes) {
  return llvm::xxHash64(llvm::StringRef(bytes.data(), bytes.size()));
}

std::string SerializeEntry(absl::string_view preimage, absl::string_view payload) {
  std::string bytes;
  bytes.reserve(kEntryOverhead + preimage.size() + payload.size());
  absl::StrAppend(&bytes, kEntryMagic);
  AppendU32(kEntryVersion, bytes);
  AppendU64(preimage.size(), bytes);
  AppendU64(payload.size(), bytes);
  absl::StrAppend(&bytes, preimage, payload);
  AppendU64(ChecksumOf(bytes), bytes);
  return bytes;
}

absl::StatusOr<EntryView> ParseEntry(absl::string_view bytes) {
  if (bytes.size() < kEntryOverhead) {
    return absl::DataLossError(absl::StrCat("an entry of ", bytes.size(), " bytes is too short"));
  }
  if (!absl::StartsWith(bytes, kEntryMagic))
    return absl::DataLossError("not an entry: wrong magic");
  uint32_t version = ReadU32(bytes.substr(8));
  if (version != kEntryVersion) {
    return absl::DataLossError(absl::StrCat("entry of version ", version, ", not ", kEntryVersion));
  }
  uint64_t preimage_size = ReadU64(bytes.substr(12));
  uint64_t payload_size = ReadU64(bytes.substr(20));
  uint64_t content = bytes.size() - kEntryOverhead;
  // Subtraction, because the sum of two hostile lengths wraps.
  if (preimage_size > content || payload_size != content - preimage_size) {
    return absl::DataLossError(absl::StrCat("lengths ", preimage_size, " and ", payload_size,
                                            " do not add up to ", content, " bytes"));
  }
  absl::string_view covered = bytes.substr(0, bytes.size() - kChecksumBytes);
  if (ChecksumOf(covered) != ReadU64(bytes.substr(covered.size()))) {
    return absl::DataLossError("wrong checksum");
  }
  return EntryView{.preimage = bytes.substr(kHeaderBytes, preimage_size),
                   .payload = bytes.substr(kHeaderBytes + preimage_size, payload_size)};
}

size_t DeclaredSize(absl::string_view bytes) {
  if (bytes.size() < kEntryOverhead || !absl::StartsWith(bytes, kEntryMagic)) return 0;
  const uint64_t content = bytes.size() - kEntryOverhead;
  const uint64_t preimage = ReadU64(bytes.substr(12)), payload = ReadU64(bytes.substr(20));
  if (preimage > content || payload > content - preimage) return 0;
  return kEntryOverhead + preimage + payload;
}

}  // namespace onepass::cache
