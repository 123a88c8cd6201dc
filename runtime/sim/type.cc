#include "runtime/sim/type.h"

namespace onepass::sim {
namespace {

struct Row {
  std::string_view name;
  Type type;
  int bits;
};

constexpr Row kTypes[] = {
    {"pred", Type::kPred, 1},      {"b8", Type::kB8, 8},          {"u8", Type::kU8, 8},
    {"s8", Type::kS8, 8},          {"b16", Type::kB16, 16},       {"u16", Type::kU16, 16},
    {"s16", Type::kS16, 16},       {"b32", Type::kB32, 32},       {"u32", Type::kU32, 32},
    {"s32", Type::kS32, 32},       {"b64", Type::kB64, 64},       {"u64", Type::kU64, 64},
    {"s64", Type::kS64, 64},       {"f16", Type::kF16, 16},       {"bf16", Type::kBf16, 16},
    {"f16x2", Type::kF16x2, 32},   {"bf16x2", Type::kBf16x2, 32}, {"u16x2", Type::kU16x2, 32},
    {"s16x2", Type::kS16x2, 32},   {"f32", Type::kF32, 32},       {"f64", Type::kF64, 64},
    {"f32x2", Type::kF32x2, 64},   {"b128", Type::kB128, 128},    {"tf32", Type::kTf32, 32},
    {"e4m3x2", Type::kE4m3x2, 16}, {"e5m2x2", Type::kE5m2x2, 16},
};

}  // namespace

std::optional<Type> TypeNamed(std::string_view name) {
  for (const Row& row : kTypes) {
    if (row.name == name) return row.type;
  }
  return std::nullopt;
}

int BitsOf(Type type) { return kTypes[static_cast<int>(type)].bits; }

bool IsSigned(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64;
}

bool IsFloat(Type type) {
  return type == Type::kF16 || type == Type::kBf16 || type == Type::kF32 || type == Type::kF64;
}

RowClass RowOf(Type type) {
  if (type == Type::kPred) return RowClass::kMask;
  return BitsOf(type) <= 32 ? RowClass::k32 : RowClass::k64;
}

}  // namespace onepass::sim
