// Operations across the lanes of a warp: shfl, vote, match, redux, elect, bar.warp.
//
// They wait until the live lanes of their mask stand at the same operation, here or elsewhere.
#include <algorithm>
#include <functional>
#include <utility>

#include "runtime/sim/checker.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"
#include "runtime/sim/meet.h"

namespace onepass::sim {
namespace {

constexpr uint32_t kNegated = MeetFlags::kNegated;

// The union of the executing lanes' masks.
uint32_t MaskOf(const Warp& warp, RowRef ref) {
  const uint32_t* masks = warp.In<uint32_t>(ref);
  if (ref < 0) return masks[0];  // a constant
  uint32_t all = 0;
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) all |= masks[std::countr_zero(left)];
  return all;
}

const Op* WaitForLanes(const Op& op, Warp& warp) {
  ++warp.unissued;
  return Reschedule(warp, &op, Path::State::kAtSync);
}

enum class Mode { kIndex, kUp, kDown, kButterfly };

template <Mode kMode, bool kPredicate>
const Op* Shuffle(const Op& op, Warp& warp) {
  const uint32_t needed = MaskOf(warp, op.r[5]);
  if (!HasLanes(warp, needed)) return Meet(op, warp, needed);
  const uint32_t* a = warp.In<uint32_t>(op.r[2]);
  const uint32_t* b = warp.In<uint32_t>(op.r[3]);
  const uint32_t* c = warp.In<uint32_t>(op.r[4]);
  alignas(64) uint32_t lanes[32];
  alignas(32) int32_t valid[32];
  alignas(32) int32_t source[32];
  for (int i = 0; i < 32; ++i) {
    const int segment = static_cast<int>(c[i] >> 8 & 31);
    const int clamp = static_cast<int>(c[i] & 31);
    const int shift = static_cast<int>(b[i] & 31);
    const int low = i & segment;
    const int bound = low | (clamp & ~segment);
    int j = i;
    bool inside = true;
    switch (kMode) {
      case Mode::kUp:
        j = i - shift;
        inside = j >= bound;
        break;
      case Mode::kDown:
        j = i + shift;
        inside = j <= bound;
        break;
      case Mode::kButterfly:
        j = i ^ shift;
        inside = j <= bound;
        break;
      case Mode::kIndex:
        j = low | (shift & ~segment);
        inside = j <= bound;
        break;
    }
    valid[i] = inside ? -1 : 0;
    source[i] = inside ? j & 31 : i;
  }
  for (int i = 0; i < 32; ++i) lanes[i] = a[source[i]];
  Blend(warp.Out<uint32_t>(op.r[0]), lanes, warp.exec);
  if constexpr (kPredicate) warp.SetMask(op.r[1], SignMask(valid));
  return &op + 1;
}

enum class Vote { kAll, kAny, kUniform, kBallot };

// r[0] d, r[1] predicate, r[2] mask. Lanes may have different masks.
template <Vote kVote>
const Op* RunVote(const Op& op, Warp& warp) {
  const uint32_t needed = MaskOf(warp, op.r[2]);
  if (!HasLanes(warp, needed)) return Meet(op, warp, needed);
  uint32_t predicate = *warp.In<uint32_t>(op.r[1]);
  if ((op.flags & kNegated) != 0) predicate = ~predicate;
  const uint32_t* masks = warp.In<uint32_t>(op.r[2]);
  uint32_t truth = 0;
  alignas(64) uint32_t ballots[32] = {};
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint32_t voters = masks[lane] & warp.exec;
    const uint32_t yes = predicate & voters;
    ballots[lane] = yes;
    const bool result = kVote == Vote::kAll   ? yes == voters
                        : kVote == Vote::kAny ? yes != 0
                                              : yes == voters || yes == 0;
    truth |= static_cast<uint32_t>(result) << lane;
  }
  if constexpr (kVote == Vote::kBallot) {
    Blend(warp.Out<uint32_t>(op.r[0]), ballots, warp.exec);
  } else {
    warp.SetMask(op.r[0], truth);
  }
  return &op + 1;
}

// r[0] d, [r[1] p,] then a and the mask.
template <class Bits, bool kAll, bool kPredicate>
const Op* Match(const Op& op, Warp& warp) {
  constexpr int kFrom = kPredicate ? 2 : 1;
  const uint32_t needed = MaskOf(warp, op.r[kFrom + 1]);
  if (!HasLanes(warp, needed)) return Meet(op, warp, needed);
  const Bits* a = warp.In<Bits>(op.r[kFrom]);
  const uint32_t* masks = warp.In<uint32_t>(op.r[kFrom + 1]);
  alignas(64) uint32_t result[32] = {};
  uint32_t truth = 0;
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint32_t voters = masks[lane] & warp.exec;
    uint32_t same = 0;
    for (int i = 0; i < 32; ++i) same |= static_cast<uint32_t>(a[i] == a[lane]) << i;
    same &= voters;
    const bool all = same == voters;
    result[lane] = kAll ? (all ? voters : 0) : same;
    truth |= static_cast<uint32_t>(all) << lane;
  }
  Blend(warp.Out<uint32_t>(op.r[0]), result, warp.exec);
  if constexpr (kPredicate) warp.SetMask(op.r[1], truth);
  return &op + 1;
}

template <class T>
T MinOf(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T MaxOf(T a, T b) {
  return a < b ? b : a;
}
template <class T, bool kMax, bool kAbs, bool kNan>
T ExtremeFloat(T x, T y) {
  const float a = kAbs ? std::fabs(x) : x;
  const float b = kAbs ? std::fabs(y) : y;
  if (a != a || b != b) return kNan || (a != a && b != b) ? Canonical(NAN) : (a != a ? b : a);
  if (a == b) return std::signbit(a) == kMax ? b : a;
  return (a < b) == kMax ? b : a;
}
template <class T>
T AddOf(T a, T b) {
  return a + b;
}
template <class T>
T AndOf(T a, T b) {
  return a & b;
}
template <class T>
T OrOf(T a, T b) {
  return a | b;
}
template <class T>
T XorOf(T a, T b) {
  return a ^ b;
}

// r[0] d, r[1] a, r[2] mask. The order of the lanes does not matter for any Fn.
template <class T, T (*Fn)(T, T)>
const Op* Reduce(const Op& op, Warp& warp) {
  const uint32_t needed = MaskOf(warp, op.r[2]);
  if (!HasLanes(warp, needed)) return Meet(op, warp, needed);
  const uint32_t* a = warp.In<uint32_t>(op.r[1]);
  const uint32_t* masks = warp.In<uint32_t>(op.r[2]);
  alignas(64) uint32_t result[32] = {};
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint32_t voters = masks[lane] & warp.exec;
    if (voters == 0) continue;
    T sum = FromBits<T>(a[std::countr_zero(voters)]);
    for (voters &= voters - 1; voters != 0; voters &= voters - 1) {
      sum = Fn(sum, FromBits<T>(a[std::countr_zero(voters)]));
    }
    result[lane] = ToBits<T>(sum);
  }
  Blend(warp.Out<uint32_t>(op.r[0]), result, warp.exec);
  return &op + 1;
}

const Op* ActiveMask(const Op& op, Warp& warp) {
  uint32_t* to = warp.Out<uint32_t>(op.r[0]);
  alignas(64) uint32_t lanes[32];
  std::fill_n(lanes, 32, warp.exec);
  Blend(to, lanes, warp.exec);
  return &op + 1;
}

// r[0] d, r[1] p, r[2] mask: the lowest lane of the mask is elected.
const Op* Elect(const Op& op, Warp& warp) {
  const uint32_t needed = MaskOf(warp, op.r[2]);
  if (!HasLanes(warp, needed)) return Meet(op, warp, needed);
  const uint32_t lane = std::countr_zero(warp.exec);
  alignas(64) uint32_t lanes[32];
  std::fill_n(lanes, 32, lane);
  Blend(warp.Out<uint32_t>(op.r[0]), lanes, warp.exec);
  warp.SetMask(op.r[1], 1u << lane);
  return &op + 1;
}

// bar.warp.sync may stand at several places for the lanes of one mask: all that wait there go on.
const Op* SyncWarp(const Op& op, Warp& warp) {
  const uint32_t needed = MaskOf(warp, op.r[0]);
  const auto meets = [&](const Path& path) {
    return path.state == Path::State::kAtSync && path.at->fn == op.fn &&
           warp.In<uint32_t>(path.at->r[0])[std::countr_zero(path.lanes)] == needed;
  };
  uint32_t present = warp.lanes;
  if (op.fn == &SyncWarp) {
    for (const Path& path : warp.others) present |= meets(path) ? path.lanes : 0;
  }
  if ((needed & warp.live & ~present) != 0) return WaitForLanes(op, warp);
  if (Checker* checker = warp.block->launch->checker; checker != nullptr) {
    const uint32_t exec = std::exchange(warp.exec, present == warp.lanes ? warp.exec : present);
    checker->SyncWarp(warp, needed);
    warp.exec = exec;
  }
  if (present == warp.lanes) return &op + 1;
  for (Path& path : warp.others) {
    if (meets(path)) path = {path.at + 1, path.lanes, Path::State::kReady};
  }
  return Reschedule(warp, &op + 1);
}

template <bool kMax>
ExecFn FloatExtreme(bool absolute, bool nan) {
  if (absolute) {
    return nan ? &Reduce<float, ExtremeFloat<float, kMax, true, true>>
               : &Reduce<float, ExtremeFloat<float, kMax, true, false>>;
  }
  return nan ? &Reduce<float, ExtremeFloat<float, kMax, false, true>>
             : &Reduce<float, ExtremeFloat<float, kMax, false, false>>;
}

std::optional<Pick> PickRedux(Form& form) {
  if (!form.Take("sync")) return std::nullopt;
  const bool min = form.Take("min");
  const bool max = !min && form.Take("max");
  const bool absolute = form.Take("abs");
  const bool nan = form.Take("NaN");
  const auto type = form.TakeType();
  ExecFn fn = nullptr;
  if (type == Type::kF32) {
    if (min) fn = FloatExtreme<false>(absolute, nan);
    if (max) fn = FloatExtreme<true>(absolute, nan);
  } else if (type && BitsOf(*type) == 32 && !absolute && !nan) {
    const bool is_signed = IsSigned(*type);
    if (min) fn = is_signed ? &Reduce<int32_t, MinOf> : &Reduce<uint32_t, MinOf>;
    if (max) fn = is_signed ? &Reduce<int32_t, MaxOf> : &Reduce<uint32_t, MaxOf>;
    if (!min && !max && form.Take("add")) fn = &Reduce<uint32_t, AddOf>;
    if (fn == nullptr && form.Take("and")) fn = &Reduce<uint32_t, AndOf>;
    if (fn == nullptr && form.Take("or")) fn = &Reduce<uint32_t, OrOf>;
    if (fn == nullptr && form.Take("xor")) fn = &Reduce<uint32_t, XorOf>;
  }
  if (fn == nullptr) return std::nullopt;
  return Pick{fn, {Type::kB32}, {Type::kB32, Type::kB32}};
}

template <class Bits>
Pick MatchOf(bool all, bool predicate, Type type) {
  Pick pick{nullptr, {Type::kB32}, {type, Type::kB32}};
  if (predicate) pick.to.push_back(Type::kPred);
  pick.fn = all ? (predicate ? &Match<Bits, true, true> : &Match<Bits, true, false>)
                : &Match<Bits, false, false>;
  if (sizeof(Bits) == 8) pick.flags = MeetFlags::kWide;
  return pick;
}

std::optional<Pick> PickVote(Form& form, bool negated) {
  form.Take("sync");  // without it the caller gives the active lanes as the mask
  Pick pick{nullptr, {Type::kPred}, {Type::kPred, Type::kB32}, negated ? kNegated : 0};
  if (form.Take("ballot") && form.Take("b32")) {
    pick.fn = &RunVote<Vote::kBallot>;
    pick.to = {Type::kB32};
  } else if (form.Take("pred")) {
    if (form.Take("all")) pick.fn = &RunVote<Vote::kAll>;
    if (form.Take("any")) pick.fn = &RunVote<Vote::kAny>;
    if (form.Take("uni")) pick.fn = &RunVote<Vote::kUniform>;
  }
  if (pick.fn == nullptr) return std::nullopt;
  return pick;
}

}  // namespace

std::optional<Pick> PickShuffle(Form& form, bool has_predicate) {
  form.Take("sync");
  if (!form.Take("b32")) return std::nullopt;
  ExecFn fn = nullptr;
  const bool p = has_predicate;
  if (form.Take("idx")) fn = p ? &Shuffle<Mode::kIndex, true> : &Shuffle<Mode::kIndex, false>;
  if (form.Take("up")) fn = p ? &Shuffle<Mode::kUp, true> : &Shuffle<Mode::kUp, false>;
  if (form.Take("down")) fn = p ? &Shuffle<Mode::kDown, true> : &Shuffle<Mode::kDown, false>;
  if (form.Take("bfly")) {
    fn = p ? &Shuffle<Mode::kButterfly, true> : &Shuffle<Mode::kButterfly, false>;
  }
  if (fn == nullptr) return std::nullopt;
  return Pick{fn};
}

std::optional<Pick> PickCollective(Form& form, bool negated, bool has_second) {
  const std::string_view base = form.base();
  if (base == "vote") return PickVote(form, negated);
  if (base == "redux") return PickRedux(form);
  if (base == "activemask" && form.Take("b32")) return Pick{&ActiveMask, {Type::kB32}};
  if (base == "elect" && form.Take("sync")) {
    return Pick{&Elect, {Type::kB32, Type::kPred}, {Type::kB32}};
  }
  if (base == "bar" && form.Take("warp") && form.Take("sync")) {
    return Pick{&SyncWarp, {}, {Type::kB32}};
  }
  if (base == "match" && form.Take("sync")) {
    const bool all = form.Take("all");
    if (!all && (!form.Take("any") || has_second)) return std::nullopt;
    if (form.Take("b32")) return MatchOf<uint32_t>(all, has_second, Type::kB32);
    if (form.Take("b64")) return MatchOf<uint64_t>(all, has_second, Type::kB64);
  }
  return std::nullopt;
}

}  // namespace onepass::sim
