// setp and set.
#include <algorithm>

#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"

namespace onepass::sim {
namespace {

// flags
constexpr uint32_t kAnd = 1;
constexpr uint32_t kOr = 2;
constexpr uint32_t kXor = 4;
constexpr uint32_t kNegateCombine = 8;
constexpr uint32_t kSecond = 16;
constexpr int kTrueShift = 8;  // of set: which bits stand for true

enum class Relation { kEq, kNe, kLt, kLe, kGt, kGe, kNum, kNan };

template <class T>
auto Value(T a) {
  if constexpr (std::is_same_v<T, F16> || std::is_same_v<T, Bf16>) {
    return ToFloat(a);
  } else {
    return a;
  }
}

template <class T, Relation kRelation, bool kUnordered, bool kFlush>
bool Holds(T x, T y) {
  auto a = Value(x);
  auto b = Value(y);
  if constexpr (kFlush) {
    a = Flush(a);
    b = Flush(b);
  }
  const bool unordered = a != a || b != b;
  switch (kRelation) {
    case Relation::kEq:
      return kUnordered ? unordered || a == b : a == b;
    case Relation::kNe:
      return kUnordered ? a != b : !unordered && a != b;
    case Relation::kLt:
      return kUnordered ? !(a >= b) : a < b;
    case Relation::kLe:
      return kUnordered ? !(a > b) : a <= b;
    case Relation::kGt:
      return kUnordered ? !(a <= b) : a > b;
    case Relation::kGe:
      return kUnordered ? !(a < b) : a >= b;
    case Relation::kNum:
      return !unordered;
    case Relation::kNan:
      return unordered;
  }
  return false;
}

template <class T, bool (*Fn)(T, T)>
[[gnu::noinline]] uint32_t TestLanes(const Op& op, const Warp& warp) {
  return Elementwise<Fn>::Test(SourceRow<T>(warp, op.r[1]), SourceRow<T>(warp, op.r[2]));
}

uint32_t Combine(const Op& op, uint32_t truth, uint32_t c) {
  if ((op.flags & kNegateCombine) != 0) c = ~c;
  if ((op.flags & kAnd) != 0) return truth & c;
  if ((op.flags & kOr) != 0) return truth | c;
  if ((op.flags & kXor) != 0) return truth ^ c;
  return truth;
}

template <class T, bool (*Fn)(T, T)>
const Op* SetPredicates(const Op& op, Warp& warp) {
  const uint32_t truth = TestLanes<T, Fn>(op, warp);
  const uint32_t c = (op.flags & (kAnd | kOr | kXor)) != 0 ? *warp.In<uint32_t>(op.r[4]) : 0;
  warp.SetMask(op.r[0], Combine(op, truth, c));
  if ((op.flags & kSecond) != 0) warp.SetMask(op.r[3], Combine(op, ~truth, c));
  return &op + 1;
}

constexpr uint32_t kTrueBits[] = {0xffffffffu, 0x3f800000u, 0x3c00u, 0x3f80u, 0xffffu};

template <class T, bool (*Fn)(T, T)>
const Op* SetRow(const Op& op, Warp& warp) {
  const uint32_t truth = TestLanes<T, Fn>(op, warp);
  const uint32_t bits = kTrueBits[op.flags >> kTrueShift];
  alignas(64) uint32_t lanes[32];
  for (int i = 0; i < 32; ++i) lanes[i] = (truth >> i & 1) != 0 ? bits : 0;
  Blend(warp.Out<uint32_t>(op.r[0]), lanes, warp.exec);
  return &op + 1;
}

template <class Pair, class H, bool (*Fn)(H, H)>
const Op* SetPairs(const Op& op, Warp& warp) {
  const SourceRow<Pair> a(warp, op.r[1]);
  const SourceRow<Pair> b(warp, op.r[2]);
  const uint32_t bits = kTrueBits[op.flags >> kTrueShift] & 0xffff;
  alignas(64) uint32_t lanes[32];
  for (int i = 0; i < 32; ++i) {
    lanes[i] = (Fn(Low(a.At(i)), Low(b.At(i))) ? bits : 0) |
               (Fn(High(a.At(i)), High(b.At(i))) ? bits << 16 : 0);
  }
  Blend(warp.Out<uint32_t>(op.r[0]), lanes, warp.exec);
  return &op + 1;
}

// The three ways to execute one comparison, and its source type.
struct Executors {
  ExecFn simple;  // p = a ? b
  ExecFn full;    // p|q = (a ? b) op c
  ExecFn row;     // set
  Type type;
};

template <class T, Relation kRelation, bool kUnordered, bool kFlush>
Executors Of() {
  constexpr auto kFn = &Holds<T, kRelation, kUnordered, kFlush>;
  return {&Elementwise<kFn>::Run, &SetPredicates<T, kFn>, &SetRow<T, kFn>, TypeOf<T>()};
}

struct Pairs {
  template <class T, Relation kRelation, bool kUnordered, bool kFlush>
  static Executors Of() {
    using Pair = std::conditional_t<std::is_same_v<T, F16>, F16x2, Bf16x2>;
    constexpr auto kFn = &Holds<T, kRelation, kUnordered, kFlush>;
    return {nullptr, nullptr, &SetPairs<Pair, T, kFn>, Type::kB32};
  }
};
struct Scalars {
  template <class T, Relation kRelation, bool kUnordered, bool kFlush>
  static Executors Of() {
    return sim::Of<T, kRelation, kUnordered, kFlush>();
  }
};

template <class Kind, class T, bool kUnordered, bool kFlush>
std::optional<Executors> OfRelation(Form& form, std::string_view suffix) {
  const auto take = [&](std::string_view name) {
    char word[8];
    const size_t length = name.copy(word, 4);
    suffix.copy(word + length, 2);
    return form.Take({word, length + suffix.size()});
  };
  if (take("eq")) return Kind::template Of<T, Relation::kEq, kUnordered, kFlush>();
  if (take("ne")) return Kind::template Of<T, Relation::kNe, kUnordered, kFlush>();
  if (take("lt")) return Kind::template Of<T, Relation::kLt, kUnordered, kFlush>();
  if (take("le")) return Kind::template Of<T, Relation::kLe, kUnordered, kFlush>();
  if (take("gt")) return Kind::template Of<T, Relation::kGt, kUnordered, kFlush>();
  if (take("ge")) return Kind::template Of<T, Relation::kGe, kUnordered, kFlush>();
  return std::nullopt;
}

template <class Kind, class T, bool kFlush>
std::optional<Executors> OfFloat(Form& form) {
  if (auto found = OfRelation<Kind, T, false, kFlush>(form, "")) return found;
  if (auto found = OfRelation<Kind, T, true, kFlush>(form, "u")) return found;
  if (form.Take("num")) return Kind::template Of<T, Relation::kNum, false, kFlush>();
  if (form.Take("nan")) return Kind::template Of<T, Relation::kNan, false, kFlush>();
  return std::nullopt;
}

template <class T>
std::optional<Executors> OfInteger(Form& form) {
  if (auto found = OfRelation<Scalars, T, false, false>(form, "")) return found;
  if constexpr (std::is_unsigned_v<T>) {
    if (form.Take("lo")) return Of<T, Relation::kLt, false, false>();
    if (form.Take("ls")) return Of<T, Relation::kLe, false, false>();
    if (form.Take("hi")) return Of<T, Relation::kGt, false, false>();
    if (form.Take("hs")) return Of<T, Relation::kGe, false, false>();
  }
  return std::nullopt;
}

std::optional<Executors> OfType(Form& form, Type type, bool flush) {
  switch (type) {
    case Type::kF32:
      return flush ? OfFloat<Scalars, float, true>(form) : OfFloat<Scalars, float, false>(form);
    case Type::kF64:
      return OfFloat<Scalars, double, false>(form);
    case Type::kF16:
      return OfFloat<Scalars, F16, false>(form);
    case Type::kBf16:
      return OfFloat<Scalars, Bf16, false>(form);
    case Type::kF16x2:
      return OfFloat<Pairs, F16, false>(form);
    case Type::kBf16x2:
      return OfFloat<Pairs, Bf16, false>(form);
    case Type::kB16:
    case Type::kU16:
      return OfInteger<uint16_t>(form);
    case Type::kS16:
      return OfInteger<int16_t>(form);
    case Type::kB32:
    case Type::kU32:
      return OfInteger<uint32_t>(form);
    case Type::kS32:
      return OfInteger<int32_t>(form);
    case Type::kB64:
    case Type::kU64:
      return OfInteger<uint64_t>(form);
    case Type::kS64:
      return OfInteger<int64_t>(form);
    default:
      return std::nullopt;
  }
}

// Index into kTrueBits of a set's destination; -1: not one.
int TrueBitsOf(Type to, Type from) {
  const bool pairs = from == Type::kF16x2 || from == Type::kBf16x2;
  switch (to) {
    case Type::kU32:
    case Type::kS32:
      return 0;
    case Type::kF32:
      return pairs ? -1 : 1;
    case Type::kF16:
      return pairs ? -1 : 2;
    case Type::kBf16:
      return pairs ? -1 : 3;
    case Type::kF16x2:
      return pairs ? 2 : -1;
    case Type::kBf16x2:
      return pairs ? 3 : -1;
    case Type::kU16:
    case Type::kS16:
      return pairs ? -1 : 4;
    default:
      return -1;
  }
}

std::optional<Pick> PickSet(Form& form, bool flush) {
  const auto to = form.TakeType();
  const auto from = form.TakeType();
  if (!to || !from) return std::nullopt;
  const auto executors = OfType(form, *from, flush);
  const int bits = TrueBitsOf(*to, *from);
  if (!executors || bits < 0) return std::nullopt;
  return Pick{executors->row,
              {Type::kB32},
              {executors->type, executors->type},
              static_cast<uint32_t>(bits) << kTrueShift};
}

}  // namespace

std::optional<Pick> PickCompare(Form& form, const Comparison& comparison) {
  const bool flush = form.Take("ftz");
  if (form.base() == "set") return PickSet(form, flush);
  const auto type = form.TakeType();
  if (!type) return std::nullopt;
  uint32_t flags = 0;
  if (comparison.has_combine) {
    if (form.Take("and")) flags = kAnd;
    if (form.Take("or")) flags = kOr;
    if (form.Take("xor")) flags = kXor;
    if (flags == 0) return std::nullopt;
    if (comparison.combine_negated) flags |= kNegateCombine;
  }
  if (comparison.has_second) flags |= kSecond;
  const auto executors = OfType(form, *type, flush);
  if (!executors || executors->simple == nullptr) return std::nullopt;
  return Pick{flags == 0 ? executors->simple : executors->full,
              {Type::kPred},
              {executors->type, executors->type},
              flags};
}

}  // namespace onepass::sim
