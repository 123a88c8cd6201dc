// Scalar video instructions, dp2a, bmsk, szext, fns and the modes of prmt.
#include <algorithm>
#include <limits>

#include "runtime/sim/exec.h"

namespace onepass::sim {
namespace {

template <class A, class B>
constexpr bool kSignedPair = std::is_signed_v<A> || std::is_signed_v<B>;

// The exact result of the first step, before it is cut or saturated to 32 bits.
enum class Video { kAdd, kSub, kDifference, kMin, kMax, kShiftLeft, kShiftRight };

template <class A, Video kVideo, bool kWrap>
int64_t First(int64_t a, int64_t b) {
  const uint32_t amount = static_cast<uint32_t>(b);
  const uint32_t shift = kWrap ? amount & 31 : std::min(amount, 32u);
  switch (kVideo) {
    case Video::kAdd:
      return a + b;
    case Video::kSub:
      return a - b;
    case Video::kDifference:
      return a < b ? b - a : a - b;
    case Video::kMin:
      return std::min(a, b);
    case Video::kMax:
      return std::max(a, b);
    case Video::kShiftLeft:
      return static_cast<int64_t>(static_cast<uint64_t>(a) << shift);
    case Video::kShiftRight:
      return a >> shift;
  }
  return 0;
}

enum class Second { kNone, kAdd, kMin, kMax };

// flags: what follows the first step.
constexpr uint32_t kSaturate = 1;
constexpr int kSecondShift = 1;

template <class D>
uint32_t Finish(int64_t value, uint32_t c, uint32_t flags) {
  if ((flags & kSaturate) != 0) {
    value =
        std::clamp<int64_t>(value, std::numeric_limits<D>::min(), std::numeric_limits<D>::max());
  }
  const D first = static_cast<D>(value);
  const D other = static_cast<D>(c);
  switch (static_cast<Second>(flags >> kSecondShift)) {
    case Second::kAdd:
      return static_cast<uint32_t>(first) + c;
    case Second::kMin:
      return static_cast<uint32_t>(std::min(first, other));
    case Second::kMax:
      return static_cast<uint32_t>(std::max(first, other));
    default:
      return static_cast<uint32_t>(first);
  }
}

// r[0] = (r[1] op r[2]) op2 r[3]; where there is no second step r[3] is a copy of r[2].
template <class D, class A, class B, Video kVideo, bool kWrap>
const Op* RunVideo(const Op& op, Warp& warp) {
  const uint32_t* a = warp.In<uint32_t>(op.r[1]);
  const uint32_t* b = warp.In<uint32_t>(op.r[2]);
  const bool second = op.flags >> kSecondShift != 0;
  const uint32_t* c = warp.In<uint32_t>(op.r[second ? 3 : 2]);
  alignas(64) uint32_t lanes[32];
  for (int i = 0; i < 32; ++i) {
    const int64_t value = First<A, kVideo, kWrap>(static_cast<A>(a[i]), static_cast<B>(b[i]));
    lanes[i] = Finish<D>(value, c[i], op.flags);
  }
  Blend(warp.Out<uint32_t>(op.r[0]), lanes, warp.exec);
  return &op + 1;
}

template <class D, class A, class B>
ExecFn OfBase(std::string_view base, bool wrap) {
  if (base == "vadd") return &RunVideo<D, A, B, Video::kAdd, false>;
  if (base == "vsub") return &RunVideo<D, A, B, Video::kSub, false>;
  if (base == "vabsdiff") return &RunVideo<D, A, B, Video::kDifference, false>;
  if (base == "vmin") return &RunVideo<D, A, B, Video::kMin, false>;
  if (base == "vmax") return &RunVideo<D, A, B, Video::kMax, false>;
  if constexpr (std::is_unsigned_v<B>) {
    if (base == "vshl" && wrap) return &RunVideo<D, A, B, Video::kShiftLeft, true>;
    if (base == "vshl") return &RunVideo<D, A, B, Video::kShiftLeft, false>;
    if (base == "vshr" && wrap) return &RunVideo<D, A, B, Video::kShiftRight, true>;
    if (base == "vshr") return &RunVideo<D, A, B, Video::kShiftRight, false>;
  }
  return nullptr;
}

template <class D>
ExecFn OfSources(std::string_view base, bool wrap, bool a_signed, bool b_signed) {
  if (a_signed && b_signed) return OfBase<D, int32_t, int32_t>(base, wrap);
  if (a_signed) return OfBase<D, int32_t, uint32_t>(base, wrap);
  if (b_signed) return OfBase<D, uint32_t, int32_t>(base, wrap);
  return OfBase<D, uint32_t, uint32_t>(base, wrap);
}

template <class A, class B, bool kHigh>
int32_t Dot2(int32_t a, int32_t b, int32_t c) {
  using Half = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
  uint32_t sum = static_cast<uint32_t>(c);
  for (int i = 0; i < 2; ++i) {
    const int64_t x = static_cast<Half>(static_cast<uint32_t>(a) >> (16 * i));
    const int64_t y = static_cast<B>(static_cast<uint32_t>(b) >> (8 * i + (kHigh ? 16 : 0)));
    sum += static_cast<uint32_t>(x * y);
  }
  return static_cast<int32_t>(sum);
}

template <class A, class B>
Pick Dot2Of(bool high) {
  return high ? Lanes<&Dot2<A, B, true>>() : Lanes<&Dot2<A, B, false>>();
}

std::optional<Pick> PickDot2(Form& form) {
  const bool high = form.Take("hi");
  if (!high && !form.Take("lo")) return std::nullopt;
  const auto a = form.TakeType();
  const auto b = form.TakeType();
  if (!a || !b || BitsOf(*a) != 32 || BitsOf(*b) != 32) return std::nullopt;
  if (IsSigned(*a)) {
    return IsSigned(*b) ? Dot2Of<int8_t, int8_t>(high) : Dot2Of<int8_t, uint8_t>(high);
  }
  return IsSigned(*b) ? Dot2Of<uint8_t, int8_t>(high) : Dot2Of<uint8_t, uint8_t>(high);
}

// `b` ones from bit `a` on.
template <bool kWrap>
uint32_t BitMask(uint32_t a, uint32_t b) {
  const uint32_t first = kWrap ? a & 31 : std::min(a, 32u);
  const uint32_t count = kWrap ? b & 31 : std::min(b, 32u);
  const uint64_t ones = (uint64_t{1} << count) - 1;
  return static_cast<uint32_t>(ones << first);
}

// The low `b` bits of `a`, extended with the highest of them or with zeros.
template <class T, bool kWrap>
T Resize(T a, uint32_t b) {
  const uint32_t bits = kWrap ? b & 31 : std::min(b, 32u);
  if (bits == 0) return 0;
  if (bits == 32) return a;
  const uint32_t up = 32 - bits;
  return static_cast<T>(static_cast<uint32_t>(a) << up) >> up;
}

// The position of the c-th set bit of the mask from bit b on, downwards where c is negative.
uint32_t FindNth(uint32_t mask, uint32_t base, int32_t offset) {
  const int step = offset < 0 ? -1 : 1;
  int64_t left = offset < 0 ? -int64_t{offset} : offset;
  if (offset == 0) return (mask >> (base & 31) & 1) != 0 ? base : ~0u;
  for (int64_t at = base; at >= 0 && at < 32; at += step) {
    if ((mask >> at & 1) != 0 && --left == 0) return static_cast<uint32_t>(at);
  }
  return ~0u;
}

enum class Permute { kForward4, kBackward4, kReplicate8, kEdgeLeft, kEdgeRight, kReplicate16 };

template <Permute kMode>
uint32_t PermuteBy(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t both = uint64_t{b} << 32 | a;
  const int from = static_cast<int>(c & 3);
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    int byte = 0;
    switch (kMode) {
      case Permute::kForward4:
        byte = from + i;
        break;
      case Permute::kBackward4:
        byte = (from - i) & 7;
        break;
      case Permute::kReplicate8:
        byte = from;
        break;
      case Permute::kEdgeLeft:
        byte = std::max(i, from);
        break;
      case Permute::kEdgeRight:
        byte = std::min(i, from);
        break;
      case Permute::kReplicate16:
        byte = 2 * (from & 1) + (i & 1);
        break;
    }
    result |= static_cast<uint32_t>(both >> (8 * byte) & 0xff) << (8 * i);
  }
  return result;
}

}  // namespace

std::optional<Pick> PickVideo(Form& form) {
  const std::string_view base = form.base();
  uint32_t flags = form.Take("sat") ? kSaturate : 0;
  const bool wrap = form.Take("wrap");
  const bool shift = base == "vshl" || base == "vshr";
  if (shift ? !wrap && !form.Take("clamp") : wrap) return std::nullopt;
  const auto d = form.TakeType();
  const auto a = form.TakeType();
  const auto b = form.TakeType();
  for (const auto& type : {d, a, b}) {
    if (type != Type::kU32 && type != Type::kS32) return std::nullopt;
  }
  Second second = Second::kNone;
  if (form.Take("add")) second = Second::kAdd;
  if (form.Take("min")) second = Second::kMin;
  if (form.Take("max")) second = Second::kMax;
  flags |= static_cast<uint32_t>(second) << kSecondShift;
  const bool a_signed = IsSigned(*a);
  const bool b_signed = IsSigned(*b);
  const ExecFn fn = IsSigned(*d) ? OfSources<int32_t>(base, wrap, a_signed, b_signed)
                                 : OfSources<uint32_t>(base, wrap, a_signed, b_signed);
  if (fn == nullptr) return std::nullopt;
  Pick pick{fn, {*d}, {*a, *b}, flags};
  if (second != Second::kNone) pick.from.push_back(*d);
  return pick;
}

std::optional<Pick> PickRareBits(Form& form) {
  const std::string_view base = form.base();
  if (base == "dp2a") return PickDot2(form);
  if (base == "fns") return form.Take("b32") ? std::optional(Lanes<&FindNth>()) : std::nullopt;
  const bool wrap = form.Take("wrap");
  if (base == "bmsk" && (wrap || form.Take("clamp")) && form.Take("b32")) {
    return wrap ? Lanes<&BitMask<true>>() : Lanes<&BitMask<false>>();
  }
  if (base == "szext" && (wrap || form.Take("clamp"))) {
    if (form.Take("u32")) {
      return wrap ? Lanes<&Resize<uint32_t, true>>() : Lanes<&Resize<uint32_t, false>>();
    }
    if (form.Take("s32")) {
      return wrap ? Lanes<&Resize<int32_t, true>>() : Lanes<&Resize<int32_t, false>>();
    }
  }
  if (base != "prmt" || !form.Take("b32")) return std::nullopt;
  if (form.Take("f4e")) return Lanes<&PermuteBy<Permute::kForward4>>();
  if (form.Take("b4e")) return Lanes<&PermuteBy<Permute::kBackward4>>();
  if (form.Take("rc8")) return Lanes<&PermuteBy<Permute::kReplicate8>>();
  if (form.Take("ecl")) return Lanes<&PermuteBy<Permute::kEdgeLeft>>();
  if (form.Take("ecr")) return Lanes<&PermuteBy<Permute::kEdgeRight>>();
  if (form.Take("rc16")) return Lanes<&PermuteBy<Permute::kReplicate16>>();
  return std::nullopt;
}

}  // namespace onepass::sim
