#include "runtime/sim/combine.h"

#include <cstring>
#include <string_view>

#include "runtime/sim/half.h"

namespace onepass::sim {
namespace {

template <class T, T (*Fn)(T, T)>
void Each(uint8_t* to, const uint8_t* from, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += sizeof(T)) {
    T old, value;
    std::memcpy(&old, to + at, sizeof(T));
    std::memcpy(&value, from + at, sizeof(T));
    value = Fn(old, value);
    std::memcpy(to + at, &value, sizeof(T));
  }
}

template <class T>
T Add(T old, T b) {
  return old + b;
}
template <class T>
T Min(T old, T b) {
  return b < old ? b : old;
}
template <class T>
T Max(T old, T b) {
  return old < b ? b : old;
}
template <class T>
T And(T old, T b) {
  return old & b;
}
template <class T>
T Or(T old, T b) {
  return old | b;
}
template <class T>
T Xor(T old, T b) {
  return old ^ b;
}
uint32_t Increment(uint32_t old, uint32_t b) { return old >= b ? 0 : old + 1; }
uint32_t Decrement(uint32_t old, uint32_t b) { return old == 0 || old > b ? b : old - 1; }
float AddFloat(float old, float b) { return Canonical(old + b); }
float AddFlushed(float old, float b) { return Canonical(Flush(Flush(old) + Flush(b))); }
template <class H>
H AddHalves(H old, H b) {
  return AddHalf(old, b);
}
template <class H, bool kMax>
H ExtremeHalf(H x, H y) {
  const float a = ToFloat(x);
  const float b = ToFloat(y);
  if (a != a || b != b) return a == a ? x : b == b ? y : H{0x7fff};
  if (a == b) return {static_cast<uint16_t>(kMax ? x.bits & y.bits : x.bits | y.bits)};
  return (a < b) == kMax ? y : x;
}

struct Row {
  std::string_view operation;
  Type type;
  Combine combine;
};

constexpr Row kRows[] = {
    {"add", Type::kU32, &Each<uint32_t, Add>},
    {"add", Type::kS32, &Each<uint32_t, Add>},
    {"add", Type::kU64, &Each<uint64_t, Add>},
    {"add", Type::kS64, &Each<uint64_t, Add>},
    {"min", Type::kU32, &Each<uint32_t, Min>},
    {"min", Type::kS32, &Each<int32_t, Min>},
    {"min", Type::kU64, &Each<uint64_t, Min>},
    {"min", Type::kS64, &Each<int64_t, Min>},
    {"max", Type::kU32, &Each<uint32_t, Max>},
    {"max", Type::kS32, &Each<int32_t, Max>},
    {"max", Type::kU64, &Each<uint64_t, Max>},
    {"max", Type::kS64, &Each<int64_t, Max>},
    {"inc", Type::kU32, &Each<uint32_t, Increment>},
    {"dec", Type::kU32, &Each<uint32_t, Decrement>},
    {"and", Type::kB32, &Each<uint32_t, And>},
    {"and", Type::kB64, &Each<uint64_t, And>},
    {"or", Type::kB32, &Each<uint32_t, Or>},
    {"or", Type::kB64, &Each<uint64_t, Or>},
    {"xor", Type::kB32, &Each<uint32_t, Xor>},
    {"xor", Type::kB64, &Each<uint64_t, Xor>},
    {"add", Type::kF64, &Each<double, Add>},
    {"add", Type::kF16, &Each<F16, AddHalves>},
    {"add", Type::kBf16, &Each<Bf16, AddHalves>},
    {"min", Type::kF16, &Each<F16, ExtremeHalf<F16, false>>},
    {"max", Type::kF16, &Each<F16, ExtremeHalf<F16, true>>},
    {"min", Type::kBf16, &Each<Bf16, ExtremeHalf<Bf16, false>>},
    {"max", Type::kBf16, &Each<Bf16, ExtremeHalf<Bf16, true>>},
    {"add", Type::kF32, &Each<float, AddFloat>},
    {"", Type::kF32, &Each<float, AddFlushed>},  // of global memory: the row before, plus one
};

}  // namespace

std::optional<uint32_t> TakeCombine(Form& form, Type type, bool global) {
  for (uint32_t i = 0; i < std::size(kRows); ++i) {
    if (kRows[i].type != type || !form.Take(kRows[i].operation)) continue;
    const bool half = type == Type::kF16 || type == Type::kBf16;
    if (half && kRows[i].operation == "add" && !form.Take("noftz")) return std::nullopt;
    return type == Type::kF32 && global ? i + 1 : i;
  }
  return std::nullopt;
}

Combine CombineAt(uint32_t index) { return kRows[index].combine; }

}  // namespace onepass::sim
