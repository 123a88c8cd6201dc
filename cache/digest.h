#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"

namespace onepass::cache {

// Joins fields into the bytes that a digest is taken of: each field is preceded by its length as
// eight little-endian bytes, so ("ab", "c") and ("a", "bc") differ. The result is a key's
// preimage: stores keep it whole beside the payload and compare it on every read.
std::string PreimageOf(llvm::ArrayRef<absl::string_view> fields);

// The SHA-256 of a preimage: the name of an entry in every store. A plain value; any digest,
// all zeros included, is a valid one.
class Digest {
 public:
  static constexpr size_t kBytes = 32;

  Digest() = default;
  explicit Digest(const std::array<uint8_t, kBytes>& bytes) : bytes_(bytes) {}

  static Digest Of(absl::string_view preimage);

  // 64 lower-case hexadecimal digits, and back. FromHex refuses everything else.
  std::string ToHex() const;
  static std::optional<Digest> FromHex(absl::string_view hex);

  const std::array<uint8_t, kBytes>& bytes() const { return bytes_; }

  friend bool operator==(const Digest&, const Digest&) = default;
  friend auto operator<=>(const Digest&, const Digest&) = default;

  template <typename H>
  friend H AbslHashValue(H state, const Digest& digest) {
    return H::combine(std::move(state), digest.bytes_);
  }

 private:
  std::array<uint8_t, kBytes> bytes_ = {};
};

}  // namespace onepass::cache
