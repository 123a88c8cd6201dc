// Logic, shifts, bit fields, counting and permuting bits; selp; address-space conversions.
#include <algorithm>
#include <bit>

#include "runtime/sim/exec.h"

namespace onepass::sim {
namespace {

template <class T>
T And(T a, T b) {
  return a & b;
}
template <class T>
T Or(T a, T b) {
  return a | b;
}
template <class T>
T Xor(T a, T b) {
  return a ^ b;
}
template <class T>
T Not(T a) {
  return static_cast<T>(~a);
}
template <class T>
T LogicalNot(T a) {
  return a == 0 ? 1 : 0;
}

// Shift amounts clamp at the width.
template <class T>
T ShiftLeft(T a, uint32_t b) {
  return b >= sizeof(T) * 8 ? T{0} : static_cast<T>(a << b);
}
template <class T>
T ShiftRight(T a, uint32_t b) {
  constexpr uint32_t kLast = sizeof(T) * 8 - 1;
  if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (b > kLast ? kLast : b));
  return b > kLast ? T{0} : static_cast<T>(a >> b);
}

template <bool kLeft, bool kWrap>
uint32_t Funnel(uint32_t low, uint32_t high, uint32_t amount) {
  const uint32_t n = kWrap ? amount & 31 : (amount > 32 ? 32 : amount);
  const uint64_t both = uint64_t{high} << 32 | low;
  return static_cast<uint32_t>(kLeft ? (both << n) >> 32 : both >> n);
}

template <class T>
uint32_t PopCount(T a) {
  return std::popcount(a);
}
template <class T>
uint32_t LeadingZeros(T a) {
  return std::countl_zero(a);
}
template <class T>
T Reverse(T a) {
  T reversed = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) reversed |= (a >> i & 1) << (sizeof(T) * 8 - 1 - i);
  return reversed;
}
// The highest bit that differs from the sign (signed) or that is set; all ones if there is none.
template <class T, bool kShiftAmount>
uint32_t FindHighest(T a) {
  using Unsigned = std::make_unsigned_t<T>;
  const Unsigned bits = static_cast<Unsigned>(std::is_signed_v<T> && a < 0 ? ~a : a);
  if (bits == 0) return ~0u;
  const uint32_t zeros = std::countl_zero(bits);
  return kShiftAmount ? zeros : sizeof(T) * 8 - 1 - zeros;
}

template <class T>
T Extract(T a, uint32_t b, uint32_t c) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr uint32_t kBits = sizeof(T) * 8;
  const uint32_t position = b & 0xff;
  const uint32_t length = c & 0xff;
  if (length == 0) return 0;
  const Unsigned bits = static_cast<Unsigned>(a);
  const uint32_t top = std::min(position + length - 1, kBits - 1);
  const bool sign = std::is_signed_v<T> && (bits >> top & 1) != 0;
  Unsigned field = position >= kBits ? 0 : bits >> position;
  if (length < kBits) {
    const Unsigned mask = (Unsigned{1} << length) - 1;
    field &= mask;
    const uint32_t valid = position >= kBits ? 0 : std::min(length, kBits - position);
    const Unsigned low = valid >= kBits ? ~Unsigned{0} : (Unsigned{1} << valid) - 1;
    if (sign) field |= ~low;
  } else if (sign) {
    const uint32_t valid = position >= kBits ? 0 : kBits - position;
    if (valid < kBits) field |= ~((Unsigned{1} << valid) - 1);
  }
  return static_cast<T>(field);
}

template <class T>
T Insert(T a, T b, uint32_t c, uint32_t d) {
  constexpr uint32_t kBits = sizeof(T) * 8;
  const uint32_t position = c & 0xff;
  const uint32_t length = d & 0xff;
  if (position >= kBits || length == 0) return b;
  const T ones = length >= kBits ? ~T{0} : (T{1} << length) - 1;
  const T mask = ones << position;
  return (b & ~mask) | (a << position & mask);
}

uint32_t Permute(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t both = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const uint32_t selector = c >> (4 * i) & 15;
    uint32_t byte = static_cast<uint32_t>(both >> (8 * (selector & 7)) & 0xff);
    if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

uint32_t Lookup3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (int i = 0; i < 8; ++i) {
    if ((table >> i & 1) == 0) continue;
    result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  }
  return result;
}

// r[0] = r[3] ? r[1] : r[2]
template <class Bits>
const Op* Select(const Op& op, Warp& warp) {
  const Bits* a = warp.In<Bits>(op.r[1]);
  const Bits* b = warp.In<Bits>(op.r[2]);
  const uint32_t mask = *warp.In<uint32_t>(op.r[3]);
  Bits* out = warp.Out<Bits>(op.r[0]);
  alignas(64) Bits lanes[32];
  for (int i = 0; i < 32; ++i) {
    const Bits other = static_cast<Bits>(mask >> i & 1) - 1;
    lanes[i] = (a[i] & ~other) | (b[i] & other);
  }
  if (warp.exec == kAllLanes) [[likely]] {
    for (int i = 0; i < 32; ++i) out[i] = lanes[i];
  } else {
    Blend(out, lanes, warp.exec);
  }
  return &op + 1;
}

template <uint32_t (*Fn)(uint32_t, uint32_t)>
const Op* OfMasks(const Op& op, Warp& warp) {
  warp.SetMask(op.r[0], Fn(*warp.In<uint32_t>(op.r[1]), *warp.In<uint32_t>(op.r[2])));
  return &op + 1;
}
const Op* NotMask(const Op& op, Warp& warp) {
  warp.SetMask(op.r[0], ~*warp.In<uint32_t>(op.r[1]));
  return &op + 1;
}

template <class T>
std::optional<Pick> PickLogic(std::string_view base) {
  if (base == "and") return Lanes<&And<T>>();
  if (base == "or") return Lanes<&Or<T>>();
  if (base == "xor") return Lanes<&Xor<T>>();
  if (base == "not") return Lanes<&Not<T>>();
  if (base == "cnot") return Lanes<&LogicalNot<T>>();
  if (base == "shl") return Lanes<&ShiftLeft<T>>();
  return std::nullopt;
}

std::optional<Pick> PickMaskLogic(std::string_view base) {
  const Type p = Type::kPred;
  if (base == "and") return Pick{&OfMasks<And<uint32_t>>, {p}, {p, p}};
  if (base == "or") return Pick{&OfMasks<Or<uint32_t>>, {p}, {p, p}};
  if (base == "xor") return Pick{&OfMasks<Xor<uint32_t>>, {p}, {p, p}};
  if (base == "not") return Pick{&NotMask, {p}, {p}};
  return std::nullopt;
}

template <class T>
std::optional<Pick> PickCount(Form& form) {
  const std::string_view base = form.base();
  if (base == "popc") return Lanes<&PopCount<T>>();
  if (base == "clz") return Lanes<&LeadingZeros<T>>();
  if (base == "brev") return Lanes<&Reverse<T>>();
  if (base == "bfi") return Lanes<&Insert<T>>();
  return std::nullopt;
}

template <class T>
std::optional<Pick> PickSigned(Form& form) {
  const std::string_view base = form.base();
  if (base == "shr") return Lanes<&ShiftRight<T>>();
  if constexpr (sizeof(T) >= 4) {
    if (base == "bfe") return Lanes<&Extract<T>>();
    if (base == "bfind") {
      return form.Take("shiftamt") ? Lanes<&FindHighest<T, true>>()
                                   : Lanes<&FindHighest<T, false>>();
    }
  }
  return std::nullopt;
}

std::optional<Pick> PickFunnel(Form& form) {
  const bool left = form.Take("l");
  if (!left && !form.Take("r")) return std::nullopt;
  const bool wrap = form.Take("wrap");
  if ((!wrap && !form.Take("clamp")) || !form.Take("b32")) return std::nullopt;
  if (left) return wrap ? Lanes<&Funnel<true, true>>() : Lanes<&Funnel<true, false>>();
  return wrap ? Lanes<&Funnel<false, true>>() : Lanes<&Funnel<false, false>>();
}

std::optional<Pick> PickSelect(Type type) {
  switch (BitsOf(type)) {
    case 16:
    case 32:
      return Pick{&Select<uint32_t>, {type}, {type, type, Type::kPred}};
    case 64:
      return Pick{&Select<uint64_t>, {type}, {type, type, Type::kPred}};
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Pick> PickBits(Form& form) {
  const std::string_view base = form.base();
  if (base == "shf") return PickFunnel(form);
  if (base == "prmt") return form.Take("b32") ? std::optional(Lanes<&Permute>()) : std::nullopt;
  if (base == "lop3") return form.Take("b32") ? std::optional(Lanes<&Lookup3>()) : std::nullopt;
  const auto type = form.TakeType();
  if (!type) return std::nullopt;
  if (base == "selp") return PickSelect(*type);
  if (*type == Type::kPred) return PickMaskLogic(base);
  const int bits = BitsOf(*type);
  const bool is_signed = IsSigned(*type);
  if (base == "shr" || base == "bfe" || base == "bfind") {
    if (bits == 16) return is_signed ? PickSigned<int16_t>(form) : PickSigned<uint16_t>(form);
    if (bits == 32) return is_signed ? PickSigned<int32_t>(form) : PickSigned<uint32_t>(form);
    return is_signed ? PickSigned<int64_t>(form) : PickSigned<uint64_t>(form);
  }
  if (base == "popc" || base == "clz" || base == "brev" || base == "bfi") {
    if (bits == 32) return PickCount<uint32_t>(form);
    if (bits == 64) return PickCount<uint64_t>(form);
    return std::nullopt;
  }
  if (bits == 16) return PickLogic<uint16_t>(base);
  if (bits == 32) return PickLogic<uint32_t>(base);
  if (bits == 64) return PickLogic<uint64_t>(base);
  return std::nullopt;
}

}  // namespace onepass::sim
