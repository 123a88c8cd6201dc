// The fundamental types of PTX that stand in the name of an instruction.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace onepass::sim {

enum class Type : uint8_t {
  kPred,
  kB8,
  kU8,
  kS8,
  kB16,
  kU16,
  kS16,
  kB32,
  kU32,
  kS32,
  kB64,
  kU64,
  kS64,
  kF16,
  kBf16,
  kF16x2,
  kBf16x2,
  kU16x2,
  kS16x2,
  kF32,
  kF64,
  kF32x2,
  kB128,
  kTf32,
  kE4m3x2,
  kE5m2x2,
};

// "f32" -> kF32; nothing for a word that is no type.
std::optional<Type> TypeNamed(std::string_view name);
int BitsOf(Type type);  // 1 for kPred
bool IsSigned(Type type);
bool IsFloat(Type type);  // scalar floating types only

// Where a value of a type lives in a warp's register file: a predicate is one 32-bit mask, others a
// row of 32 lanes of 32 or 64 bits. Narrower types use the low bits of a 32-bit lane; the bits
// above are not specified.
enum class RowClass : uint8_t { kMask, k32, k64 };
RowClass RowOf(Type type);
constexpr int RowBytes(RowClass row) {
  return row == RowClass::kMask ? 4 : row == RowClass::k32 ? 128 : 256;
}

}  // namespace onepass::sim
