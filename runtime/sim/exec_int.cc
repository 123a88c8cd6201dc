// Arithmetic of integers.
#include <limits>
#include <type_traits>

#include "runtime/sim/exec.h"

namespace onepass::sim {
namespace {

// Arithmetic wraps: it is done without sign.
template <class T>
using U = std::conditional_t<sizeof(T) == 2, uint32_t, std::make_unsigned_t<T>>;
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;

template <class T>
T Add(T a, T b) {
  return static_cast<T>(static_cast<U<T>>(a) + static_cast<U<T>>(b));
}
template <class T>
T Sub(T a, T b) {
  return static_cast<T>(static_cast<U<T>>(a) - static_cast<U<T>>(b));
}
template <class T>
T MulLow(T a, T b) {
  return static_cast<T>(static_cast<U<T>>(a) * static_cast<U<T>>(b));
}
template <class T>
T MulHigh(T a, T b) {
  return static_cast<T>((static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b)) >> (sizeof(T) * 8));
}
template <class T>
Wide<T> MulWide(T a, T b) {
  return static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b);
}
template <class T>
T MadLow(T a, T b, T c) {
  return Add<T>(MulLow<T>(a, b), c);
}
template <class T>
T MadHigh(T a, T b, T c) {
  return Add<T>(MulHigh<T>(a, b), c);
}
template <class T>
Wide<T> MadWide(T a, T b, Wide<T> c) {
  return Add<Wide<T>>(MulWide<T>(a, b), c);
}
int32_t AddSaturated(int32_t a, int32_t b) {
  const int64_t sum = int64_t{a} + b;
  return static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX));
}
int32_t SubSaturated(int32_t a, int32_t b) {
  const int64_t sum = int64_t{a} - b;
  return static_cast<int32_t>(std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX));
}
int32_t MadHighSaturated(int32_t a, int32_t b, int32_t c) {
  return AddSaturated(MulHigh<int32_t>(a, b), c);
}

// Division by zero gives all ones, as the hardware's sequence does; MIN / -1 wraps.
template <class T>
T Div(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return Sub<T>(0, a);
  }
  return static_cast<T>(a / b);
}
template <class T>
T Rem(T a, T b) {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return 0;
  }
  return static_cast<T>(a % b);
}
template <class T>
T Min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T Max(T a, T b) {
  return a < b ? b : a;
}
template <class T>
T Neg(T a) {
  return Sub<T>(0, a);
}
template <class T>
T Abs(T a) {
  return a < 0 ? Neg<T>(a) : a;
}
template <class T>
T SumOfDifferences(T a, T b, T c) {
  return Add<T>(c, a < b ? Sub<T>(b, a) : Sub<T>(a, b));
}

template <class T>
T Mul24Low(T a, T b) {
  using W = Wide<T>;
  const W x = static_cast<T>(static_cast<U<T>>(a) << 8) >> 8;
  const W y = static_cast<T>(static_cast<U<T>>(b) << 8) >> 8;
  return static_cast<T>(x * y);
}
template <class T>
T Mul24High(T a, T b) {
  using W = Wide<T>;
  const W x = static_cast<T>(static_cast<U<T>>(a) << 8) >> 8;
  const W y = static_cast<T>(static_cast<U<T>>(b) << 8) >> 8;
  return static_cast<T>((x * y) >> 16);
}
template <class T>
T Mad24Low(T a, T b, T c) {
  return Add<T>(Mul24Low<T>(a, b), c);
}

template <class A, class B>
int32_t Dot4(int32_t a, int32_t b, int32_t c) {
  uint32_t sum = static_cast<uint32_t>(c);
  for (int i = 0; i < 4; ++i) {
    const int32_t x = static_cast<A>(static_cast<uint32_t>(a) >> (8 * i));
    const int32_t y = static_cast<B>(static_cast<uint32_t>(b) >> (8 * i));
    sum += static_cast<uint32_t>(x * y);
  }
  return static_cast<int32_t>(sum);
}

template <class T, T (*Fn)(T, T)>
uint32_t Halves(uint32_t a, uint32_t b) {
  const uint16_t low = static_cast<uint16_t>(Fn(static_cast<T>(a), static_cast<T>(b)));
  const uint16_t high = static_cast<uint16_t>(Fn(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
  return uint32_t{high} << 16 | low;
}

template <class T>
std::optional<Pick> PickMultiply(Form& form) {
  const bool add = form.base() == "mad";
  if (form.Take("lo")) return add ? Lanes<&MadLow<T>>() : Lanes<&MulLow<T>>();
  if (form.Take("hi")) {
    if constexpr (std::is_same_v<T, int32_t>) {
      if (add && form.Take("sat")) return Lanes<&MadHighSaturated>();
    }
    return add ? Lanes<&MadHigh<T>>() : Lanes<&MulHigh<T>>();
  }
  if constexpr (sizeof(T) < 8) {
    if (form.Take("wide")) return add ? Lanes<&MadWide<T>>() : Lanes<&MulWide<T>>();
  }
  return std::nullopt;
}

template <class T>
std::optional<Pick> PickOf(Form& form) {
  const std::string_view base = form.base();
  if constexpr (std::is_same_v<T, int32_t>) {
    if (base == "add" && form.Take("sat")) return Lanes<&AddSaturated>();
    if (base == "sub" && form.Take("sat")) return Lanes<&SubSaturated>();
  }
  if (base == "add") return Lanes<&Add<T>>();
  if (base == "sub") return Lanes<&Sub<T>>();
  if (base == "mul" || base == "mad") return PickMultiply<T>(form);
  if (base == "div") return Lanes<&Div<T>>();
  if (base == "rem") return Lanes<&Rem<T>>();
  if (base == "min") return Lanes<&Min<T>>();
  if (base == "max") return Lanes<&Max<T>>();
  if (base == "sad") return Lanes<&SumOfDifferences<T>>();
  if constexpr (std::is_signed_v<T>) {
    if (base == "neg") return Lanes<&Neg<T>>();
    if (base == "abs") return Lanes<&Abs<T>>();
  }
  return std::nullopt;
}

template <class T>
std::optional<Pick> Pick24(Form& form) {
  const bool low = form.Take("lo");
  if (form.base() == "mad24" && low) return Lanes<&Mad24Low<T>>();
  if (form.base() != "mul24") return std::nullopt;
  if (low) return Lanes<&Mul24Low<T>>();
  if (form.Take("hi")) return Lanes<&Mul24High<T>>();
  return std::nullopt;
}

std::optional<Pick> PickDot(Form& form) {
  const auto a = form.TakeType();
  const auto b = form.TakeType();
  if (!a || !b || BitsOf(*a) != 32 || BitsOf(*b) != 32) return std::nullopt;
  if (IsSigned(*a)) {
    return IsSigned(*b) ? Lanes<&Dot4<int8_t, int8_t>>() : Lanes<&Dot4<int8_t, uint8_t>>();
  }
  return IsSigned(*b) ? Lanes<&Dot4<uint8_t, int8_t>>() : Lanes<&Dot4<uint8_t, uint8_t>>();
}

template <class T>
std::optional<Pick> PickHalves(std::string_view base) {
  if (base == "add") return Lanes<&Halves<T, Add<T>>>();
  if (base == "sub") return Lanes<&Halves<T, Sub<T>>>();
  if (base == "min") return Lanes<&Halves<T, Min<T>>>();
  if (base == "max") return Lanes<&Halves<T, Max<T>>>();
  return std::nullopt;
}

}  // namespace

std::optional<Pick> PickInteger(Form& form) {
  if (form.base() == "dp4a") return PickDot(form);
  const auto type = form.TakeType();
  if (!type) return std::nullopt;
  if (form.base() == "mul24" || form.base() == "mad24") {
    if (*type == Type::kS32) return Pick24<int32_t>(form);
    if (*type == Type::kU32) return Pick24<uint32_t>(form);
    return std::nullopt;
  }
  switch (*type) {
    case Type::kU16:
      return PickOf<uint16_t>(form);
    case Type::kS16:
      return PickOf<int16_t>(form);
    case Type::kU32:
      return PickOf<uint32_t>(form);
    case Type::kS32:
      return PickOf<int32_t>(form);
    case Type::kU64:
      return PickOf<uint64_t>(form);
    case Type::kS64:
      return PickOf<int64_t>(form);
    case Type::kU16x2:
      return PickHalves<uint16_t>(form.base());
    case Type::kS16x2:
      return PickHalves<int16_t>(form.base());
    default:
      return std::nullopt;
  }
}

}  // namespace onepass::sim
