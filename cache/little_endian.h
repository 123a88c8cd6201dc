#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace onepass::cache {

// Unsigned integers as little-endian bytes, whatever the host's own order and alignment.
inline void AppendU64(uint64_t value, std::string& out) {
  for (int shift = 0; shift < 64; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

inline void AppendU32(uint32_t value, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(value >> shift));
}

// The first 8 (4) bytes of `bytes`, which must hold that many.
inline uint64_t ReadU64(absl::string_view bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

inline uint32_t ReadU32(absl::string_view bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

}  // namespace onepass::cache
