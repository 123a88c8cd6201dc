#include "cache/digest.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "cache/little_endian.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/SHA256.h"

namespace onepass::cache {

std::string PreimageOf(llvm::ArrayRef<absl::string_view> fields) {
  std::string preimage;
  for (absl::string_view field : fields) {
    AppendU64(field.size(), preimage);
    preimage.append(field.data(), field.size());
  }
  return preimage;
}

Digest Digest::Of(absl::string_view preimage) {
  // The static form: what SHA256::final() returns differs between versions of LLVM.
  return Digest(llvm::SHA256::hash(
      llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t*>(preimage.data()), preimage.size())));
}

std::string Digest::ToHex() const {
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(bytes_.data()), bytes_.size()));
}

std::optional<Digest> Digest::FromHex(absl::string_view hex) {
  auto is_digit = [](char c) { return absl::ascii_isdigit(c) || (c >= 'a' && c <= 'f'); };
  if (hex.size() != 2 * kBytes || !std::all_of(hex.begin(), hex.end(), is_digit)) {
    return std::nullopt;
  }
  std::string raw = absl::HexStringToBytes(hex);
  Digest digest;
  std::copy(raw.begin(), raw.end(), digest.bytes_.begin());
  return digest;
}

}  // namespace onepass::cache
