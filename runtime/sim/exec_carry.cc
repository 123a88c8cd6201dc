// Extended-precision integer arithmetic: add.cc, addc, sub.cc, subc, mad.cc, madc. The condition
// code is one bit a lane, Warp::carry.
#include <cstring>

#include "runtime/sim/exec.h"

namespace onepass::sim {
namespace {

constexpr uint32_t kSetsCarry = 1;
constexpr uint32_t kUsesCarry = 2;

enum class Kind { kAdd, kSub, kMadLow, kMadHigh };

// d = a + b + carry, or a - b - carry, or the half of a * b plus c plus carry. After a subtraction
// the condition code is the borrow.
template <class T, Kind kKind>
const Op* Extended(const Op& op, Warp& warp) {
  using W = std::conditional_t<sizeof(T) == 8, unsigned __int128, uint64_t>;
  const T* a = warp.In<T>(op.r[1]);
  const T* b = warp.In<T>(op.r[2]);
  const bool three = kKind == Kind::kMadLow || kKind == Kind::kMadHigh;
  const T* c = warp.In<T>(op.r[three ? 3 : 2]);
  alignas(64) T lanes[32];
  uint32_t carries = 0;
  for (int i = 0; i < 32; ++i) {
    const W in = (op.flags & kUsesCarry) != 0 ? warp.carry >> i & 1 : 0;
    W value = 0;
    if (kKind == Kind::kAdd) value = W{a[i]} + b[i] + in;
    if (kKind == Kind::kSub) value = W{a[i]} - b[i] - in;
    const W product = W{a[i]} * b[i];
    if (kKind == Kind::kMadLow) value = W{static_cast<T>(product)} + c[i] + in;
    if (kKind == Kind::kMadHigh) value = W{static_cast<T>(product >> (sizeof(T) * 8))} + c[i] + in;
    lanes[i] = static_cast<T>(value);
    carries |= static_cast<uint32_t>((value >> (sizeof(T) * 8) & 1) != 0) << i;
  }
  Blend(warp.Out<T>(op.r[0]), lanes, warp.exec);
  if ((op.flags & kSetsCarry) != 0) {
    warp.carry = (warp.carry & ~warp.exec) | (carries & warp.exec);
  }
  return &op + 1;
}

}  // namespace

std::optional<Pick> PickCarry(Form& form) {
  std::string_view base = form.base();
  uint32_t flags = form.Take("cc") ? kSetsCarry : 0;
  if (base.back() == 'c') {
    base.remove_suffix(1);
    flags |= kUsesCarry;
  }
  const auto type = form.TakeType();
  if (!type || IsFloat(*type) || BitsOf(*type) < 32) return std::nullopt;
  const bool wide = BitsOf(*type) == 64;
  Pick pick{nullptr, {*type}, {*type, *type}, flags};
  if (base == "add")
    pick.fn = wide ? &Extended<uint64_t, Kind::kAdd> : &Extended<uint32_t, Kind::kAdd>;
  if (base == "sub")
    pick.fn = wide ? &Extended<uint64_t, Kind::kSub> : &Extended<uint32_t, Kind::kSub>;
  if (base == "mad") {
    pick.from.push_back(*type);
    const bool low = form.Take("lo");
    // The high half of a signed product is not what Extended computes.
    if (!low && (!form.Take("hi") || IsSigned(*type))) return std::nullopt;
    if (wide)
      pick.fn = low ? &Extended<uint64_t, Kind::kMadLow> : &Extended<uint64_t, Kind::kMadHigh>;
    if (!wide)
      pick.fn = low ? &Extended<uint32_t, Kind::kMadLow> : &Extended<uint32_t, Kind::kMadHigh>;
  }
  if (pick.fn == nullptr) return std::nullopt;
  return pick;
}

}  // namespace onepass::sim
