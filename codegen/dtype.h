// Element types and the two memory orders, with their spellings.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

namespace onepass {

enum class DType : uint8_t { kF32, kF16, kBF16, kF64, kI64 };

// "f32", "f16", "bf16", "f64", "i64".
absl::string_view ToString(DType dtype);
// The types a problem can be spelled with; i64 only names pooling indices and is not among them.
std::optional<DType> ParseDType(absl::string_view text);

constexpr int SizeOf(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kI64 ? 8 : dtype == DType::kF32 ? 4 : 2;
}

// The type that arithmetic is done in, and that saved statistics are kept in: f64 for f64, else
// f32.
constexpr DType AccumulationType(DType dtype) {
  return dtype == DType::kF64 ? DType::kF64 : DType::kF32;
}

enum class Layout : uint8_t { kChannelsFirst, kChannelsLast };

// "nchw", "nhwc", for any rank.
absl::string_view ToString(Layout layout);

}  // namespace onepass
