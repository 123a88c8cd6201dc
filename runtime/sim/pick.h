// What executes an instruction: chosen by its form, once, when a module is translated.
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "runtime/sim/op.h"
#include "runtime/sim/type.h"

namespace onepass::sim {

// 16-bit and packed values that C++ has no types for. Distinct types give distinct functions.
struct F16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};
struct F16x2 {
  uint32_t bits;
};
struct Bf16x2 {
  uint32_t bits;
};
struct F32x2 {
  float lo;
  float hi;
};

// An ExecFn with the types of its destinations (r[0], ...) and of its sources (behind them).
struct Pick {
  ExecFn fn = nullptr;
  llvm::SmallVector<Type, 2> to = {};
  llvm::SmallVector<Type, 4> from = {};
  uint32_t flags = 0;
};

// The type whose row holds a T, and by which a literal operand becomes a T.
template <class T>
constexpr Type TypeOf() {
  if constexpr (std::is_same_v<T, bool>) {
    return Type::kPred;
  } else if constexpr (std::is_same_v<T, float>) {
    return Type::kF32;
  } else if constexpr (std::is_same_v<T, double>) {
    return Type::kF64;
  } else if constexpr (std::is_same_v<T, F16>) {
    return Type::kF16;
  } else if constexpr (std::is_same_v<T, Bf16>) {
    return Type::kBf16;
  } else if constexpr (sizeof(T) == 8) {
    return Type::kB64;
  } else if constexpr (sizeof(T) == 4) {
    return Type::kB32;
  } else if constexpr (sizeof(T) == 2) {
    return Type::kB16;
  } else {
    return Type::kB8;
  }
}

}  // namespace onepass::sim
