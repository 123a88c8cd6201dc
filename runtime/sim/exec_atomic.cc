// atom and red.
//
// Atomics on global memory are ordered: blocks execute them one block at a time, in a fixed order,
// so they need no atomic instruction of the host and their results do not depend on host threads.
#include <cmath>
#include <cstring>

#include "runtime/sim/addresses.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"
#include "runtime/sim/memory_form.h"

namespace onepass::sim {
namespace {

using F = AccessFlags;

template <class T>
using AtomicFn = T (*)(T old, T b, T c);

template <class T>
T Add(T old, T b, T) {
  return old + b;
}
template <class T>
T Min(T old, T b, T) {
  return b < old ? b : old;
}
template <class T>
T Max(T old, T b, T) {
  return old < b ? b : old;
}
template <class T>
T And(T old, T b, T) {
  return old & b;
}
template <class T>
T Or(T old, T b, T) {
  return old | b;
}
template <class T>
T Xor(T old, T b, T) {
  return old ^ b;
}
template <class T>
T Exchange(T, T b, T) {
  return b;
}
template <class T>
T CompareAndSwap(T old, T b, T c) {
  return old == b ? c : old;
}
uint32_t Increment(uint32_t old, uint32_t b, uint32_t) { return old >= b ? 0 : old + 1; }
uint32_t Decrement(uint32_t old, uint32_t b, uint32_t) { return old == 0 || old > b ? b : old - 1; }

// Global additions of f32 flush subnormals, whatever the module was compiled with.
float AddFlushed(float old, float b, float) { return Canonical(Flush(Flush(old) + Flush(b))); }
float AddFloat(float old, float b, float) { return Canonical(old + b); }

F16 AddF16(F16 old, F16 b, F16) { return AddHalf(old, b); }
Bf16 AddBf16(Bf16 old, Bf16 b, Bf16) { return AddHalf(old, b); }
F16x2 AddF16x2(F16x2 old, F16x2 b, F16x2) {
  return Pairwise(old, b, [](F16 x, F16 y) { return AddHalf(x, y); });
}
Bf16x2 AddBf16x2(Bf16x2 old, Bf16x2 b, Bf16x2) {
  return Pairwise(old, b, [](Bf16 x, Bf16 y) { return AddHalf(x, y); });
}

bool ReadyToUpdate(const Op& op, Warp& warp, const HostBytes& bytes, const LaneAddresses& addresses,
                   int64_t size) {
  Block& block = *warp.block;
  if (bytes.space != Space::kGlobal) {
    ++block.counts.shared_accesses;
    return true;
  }
  if (!warp.serial) return false;
  block.counts.global_atomics += std::popcount(warp.exec);
  if (block.launch->count_traffic) block.log.Update(addresses.at, warp.exec, size);
  return true;
}

// A generic addition of f32 flushes by what its address is.
template <class T, AtomicFn<T> Fn>
T Combined(Space space, T old, T b, T c) {
  if constexpr (std::is_same_v<T, float>) {
    if (space != Space::kGlobal) return AddFloat(old, b, c);
  }
  return Fn(old, b, c);
}

// N results, the address, N values b, then c. A vector form is N scalar atomics.
template <class T, AtomicFn<T> Fn, int N>
const Op* Atomic(const Op& op, Warp& warp) {
  using Bits = BitsFor<T>;
  const LaneAddresses addresses(op, warp, op.r[N], op.flags);
  HostBytes bytes;
  const Space space = static_cast<Space>(op.flags & F::kSpaceMask);
  if (!bytes.Find(op, warp, addresses, sizeof(T) * N, /*store=*/true, space)) return nullptr;
  if (!ReadyToUpdate(op, warp, bytes, addresses, sizeof(T) * N)) {
    return warp.StopAt(op, Stop::kOrdered);
  }
  if (Checker* checker = warp.block->launch->checker; checker != nullptr) [[unlikely]] {
    checker->Access(op, warp, {AccessRecord::Kind::kUpdate, sizeof(T) * N, sizeof(T), N});
  }
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    T b[N];  // all of them first: a result may take the place of a source
    for (int n = 0; n < N; ++n) b[n] = FromBits<T>(warp.In<Bits>(op.r[N + 1 + n])[lane]);
    const T c = N == 1 ? FromBits<T>(warp.In<Bits>(op.r[3])[lane]) : b[0];
    for (int n = 0; n < N; ++n) {
      uint8_t* at = bytes.base + bytes.offset[lane] + n * sizeof(T);
      T old;
      std::memcpy(&old, at, sizeof(T));
      const T value = Combined<T, Fn>(bytes.space, old, b[n], c);
      warp.block->progress += std::memcmp(&value, &old, sizeof(T)) != 0;
      std::memcpy(at, &value, sizeof(T));
      if ((op.flags & F::kHasResult) != 0) warp.Out<Bits>(op.r[n])[lane] = ToBits<T>(old);
    }
  }
  return &op + 1;
}

template <class T, AtomicFn<T> Fn>
Pick Scalar(bool three = false) {
  Pick pick{&Atomic<T, Fn, 1>, {TypeOf<T>()}, {TypeOf<T>()}};
  if (three) pick.from.push_back(TypeOf<T>());
  return pick;
}

template <class T, AtomicFn<T> Fn>
std::optional<Pick> OfVector(Form& form) {
  Pick pick = Scalar<T, Fn>();
  int vector = 1;
  if (form.Take("v2")) vector = 2;
  if (form.Take("v4")) vector = 4;
  if (vector == 2) pick.fn = &Atomic<T, Fn, 2>;
  if (vector == 4) {
    if constexpr (sizeof(T) > 4) return std::nullopt;
    pick.fn = &Atomic<T, Fn, 4>;
  }
  pick.to.assign(vector, TypeOf<T>());
  pick.from.assign(vector, TypeOf<T>());
  return pick;
}

template <class T, class S>
std::optional<Pick> PickInteger(Form& form, Type type) {
  if (form.Take("add")) return Scalar<T, Add<T>>();
  if (form.Take("min")) return IsSigned(type) ? Scalar<S, Min<S>>() : Scalar<T, Min<T>>();
  if (form.Take("max")) return IsSigned(type) ? Scalar<S, Max<S>>() : Scalar<T, Max<T>>();
  if (form.Take("and")) return Scalar<T, And<T>>();
  if (form.Take("or")) return Scalar<T, Or<T>>();
  if (form.Take("xor")) return Scalar<T, Xor<T>>();
  if (form.Take("exch")) return Scalar<T, Exchange<T>>();
  if (form.Take("cas")) return Scalar<T, CompareAndSwap<T>>(/*three=*/true);
  return std::nullopt;
}

std::optional<Pick> PickByType(Form& form, Type type, Space space) {
  switch (type) {
    case Type::kF32:
      if (!form.Take("add")) return std::nullopt;
      return space == Space::kShared || space == Space::kSharedCluster
                 ? Scalar<float, AddFloat>()
                 : OfVector<float, AddFlushed>(form);
    case Type::kF64:
      if (!form.Take("add")) return std::nullopt;
      return Scalar<double, Add<double>>();
    case Type::kF16:
      if (!form.Take("add") || !form.Take("noftz")) return std::nullopt;
      return OfVector<F16, AddF16>(form);
    case Type::kBf16:
      if (!form.Take("add") || !form.Take("noftz")) return std::nullopt;
      return OfVector<Bf16, AddBf16>(form);
    case Type::kF16x2:
      if (!form.Take("add") || !form.Take("noftz")) return std::nullopt;
      return OfVector<F16x2, AddF16x2>(form);
    case Type::kBf16x2:
      if (!form.Take("add") || !form.Take("noftz")) return std::nullopt;
      return OfVector<Bf16x2, AddBf16x2>(form);
    default:
      break;
  }
  if (BitsOf(type) == 32) {
    if (type == Type::kU32 && form.Take("inc")) return Scalar<uint32_t, Increment>();
    if (type == Type::kU32 && form.Take("dec")) return Scalar<uint32_t, Decrement>();
    return PickInteger<uint32_t, int32_t>(form, type);
  }
  if (BitsOf(type) == 64) return PickInteger<uint64_t, int64_t>(form, type);
  if (type == Type::kB16 && form.Take("cas")) {
    return Scalar<uint16_t, CompareAndSwap<uint16_t>>(/*three=*/true);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Pick> PickAtomic(Form& form, bool has_result, bool address32) {
  // An atomic without a scope has the whole GPU's.
  const bool block_scope = form.Has("cta");
  const bool cluster_scope = form.Has("cluster");
  uint32_t order = (TakeOrder(form) & F::kOrderMask) | F::kStrongOrder;
  if (block_scope) order |= F::kBlockScope;
  if (cluster_scope) order |= F::kClusterScope;
  const Space space = TakeSpace(form);
  if (space != Space::kGeneric && space != Space::kGlobal && space != Space::kShared &&
      space != Space::kSharedCluster) {
    return std::nullopt;
  }
  const auto type = form.TakeType();
  if (!type) return std::nullopt;
  auto pick = PickByType(form, *type, space);
  if (!pick) return std::nullopt;
  pick->flags |= static_cast<uint32_t>(space) | order;
  if (address32) pick->flags |= F::kAddress32;
  if (has_result) pick->flags |= F::kHasResult;
  return pick;
}

}  // namespace onepass::sim
