// ldmatrix, stmatrix and mma: operations on fragments that the lanes of a warp hold together.
//
// Lane 4 g + t holds, of a fragment with e elements a register, row g and columns t e ... t e +
// e-1.
#include <array>
#include <cstring>

#include "runtime/sim/addresses.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"
#include "runtime/sim/memory_form.h"

namespace onepass::sim {
namespace {

using F = AccessFlags;

constexpr uint32_t kTransposed = 1 << 16;
constexpr int kCountShift = 17;  // matrices

const Op* WaitForWarp(const Op& op, Warp& warp) {
  ++warp.unissued;
  return Reschedule(warp, &op, Path::State::kAtSync);
}

// Finds the 16-byte rows that the first 8 * count lanes point to.
bool FindRows(const Op& op, Warp& warp, int count, bool store, HostBytes& bytes) {
  const uint32_t exec = warp.exec;
  warp.exec = count == 4 ? kAllLanes : (1u << (8 * count)) - 1;
  const LaneAddresses addresses(op, warp, op.r[0], op.flags);
  const Space space = static_cast<Space>(op.flags & F::kSpaceMask);
  bool found = bytes.Find(op, warp, addresses, 16, store, space);
  if (Checker* checker = warp.block->launch->checker; found && checker != nullptr) {
    const auto kind = store ? AccessRecord::Kind::kWrite : AccessRecord::Kind::kRead;
    found = checker->Access(op, warp, {kind, 16, 2, /*address=*/0, /*values=*/-1});
  }
  warp.exec = exec;
  if (found && bytes.space != Space::kShared) {
    Fault(warp, op, 1, "an address outside shared memory", Finding::Kind::kOutOfBounds);
    return false;
  }
  ++warp.block->counts.shared_accesses;
  return found;
}

// Where the two 16-bit elements of a lane lie in the eight rows of matrix `which`.
void ElementsOf(const Op& op, const HostBytes& bytes, int which, int lane, uint8_t* (&at)[2]) {
  for (int i = 0; i < 2; ++i) {
    const int row = (op.flags & kTransposed) != 0 ? 2 * (lane % 4) + i : lane / 4;
    const int column = (op.flags & kTransposed) != 0 ? lane / 4 : 2 * (lane % 4) + i;
    at[i] = bytes.base + bytes.offset[8 * which + row] + 2 * column;
  }
}

// r[0] the addresses, then one register for each matrix.
template <bool kStore>
const Op* MoveMatrices(const Op& op, Warp& warp) {
  if (!HasLanes(warp, kAllLanes)) return WaitForWarp(op, warp);
  if (warp.exec != kAllLanes) return Fault(warp, op, warp.exec, "not all lanes take part");
  const int count = static_cast<int>(op.flags >> kCountShift);
  HostBytes bytes;
  if (!FindRows(op, warp, count, kStore, bytes)) return nullptr;
  for (int which = 0; which < count; ++which) {
    uint32_t* lanes = warp.Out<uint32_t>(op.r[1 + which]);
    for (int lane = 0; lane < 32; ++lane) {
      uint8_t* at[2];
      ElementsOf(op, bytes, which, lane, at);
      if (Checker* checker = warp.block->launch->checker; !kStore && checker != nullptr) {
        for (const uint8_t* element : at) {
          checker->Loaded(op, warp, op.r[1 + which], lane, element - warp.block->shared, 2);
        }
      }
      uint16_t pair[2];
      if (kStore) {
        std::memcpy(pair, &lanes[lane], 4);
        for (int i = 0; i < 2; ++i) std::memcpy(at[i], &pair[i], 2);
      } else {
        for (int i = 0; i < 2; ++i) std::memcpy(&pair[i], at[i], 2);
        std::memcpy(&lanes[lane], pair, 4);
      }
    }
  }
  warp.block->progress += kStore;
  return &op + 1;
}

// One multiplicand type: its width and value.
struct F16Element {
  static constexpr int kBits = 16;
  using Sum = double;
  static double Value(uint32_t bits) { return ToFloat(F16{static_cast<uint16_t>(bits)}); }
};
struct Bf16Element {
  static constexpr int kBits = 16;
  using Sum = double;
  static double Value(uint32_t bits) { return ToFloat(Bf16{static_cast<uint16_t>(bits)}); }
};
struct Tf32Element {
  static constexpr int kBits = 32;
  using Sum = double;
  static double Value(uint32_t bits) { return std::bit_cast<float>(bits & 0xffffe000u); }
};
struct S8Element {
  static constexpr int kBits = 8;
  using Sum = int64_t;
  static int64_t Value(uint32_t bits) { return static_cast<int8_t>(bits); }
};
struct U8Element {
  static constexpr int kBits = 8;
  using Sum = int64_t;
  static int64_t Value(uint32_t bits) { return static_cast<uint8_t>(bits); }
};

constexpr uint32_t kSaturate = 1;

// The refs of an operation with more than an Op holds.
const RowRef* LongRefs(const Op& op, const Warp& warp) {
  return warp.block->launch->kernel->long_refs.data() + op.offset;
}

template <class E>
auto ElementOf(const Warp& warp, RowRef ref, int lane, int index) {
  constexpr uint32_t kMask = E::kBits == 32 ? ~0u : (1u << (E::kBits & 31)) - 1;
  return E::Value(warp.In<uint32_t>(ref)[lane] >> (E::kBits * index % 32) & kMask);
}

// The sum over k of A[row][k] B[k][column], plus `start`. Registers of A: row half inside quarter
// of k; of B: quarter of k.
template <class A, class B, int kK>
typename A::Sum Dot(const Warp& warp, const RowRef* a, const RowRef* b, int row, int column,
                    typename A::Sum start) {
  constexpr int kElements = 32 / A::kBits;
  typename A::Sum sum = start;
  for (int k = 0; k < kK; ++k) {
    const int quarter = k / (4 * kElements);
    const int t = k / kElements % 4;
    const int index = k % kElements;
    sum += ElementOf<A>(warp, a[2 * quarter + row / 8], 4 * (row % 8) + t, index) *
           ElementOf<B>(warp, b[quarter], 4 * column + t, index);
  }
  return sum;
}

// Accumulators: what a register holds.
struct F32Accumulator {
  static constexpr int kRegisters = 4;
  static double Get(uint32_t bits, int) { return std::bit_cast<float>(bits); }
  static uint32_t Put(uint32_t, int, double value, bool) {
    return std::bit_cast<uint32_t>(Canonical(static_cast<float>(value)));
  }
};
struct F16Accumulator {
  static constexpr int kRegisters = 2;
  static double Get(uint32_t bits, int half) {
    return ToFloat(F16{static_cast<uint16_t>(bits >> (16 * half))});
  }
  static uint32_t Put(uint32_t old, int half, double value, bool) {
    const uint32_t bits = RoundHalf(F16{}, value).bits;
    return half == 0 ? (old & 0xffff0000u) | bits : (old & 0xffffu) | bits << 16;
  }
};
struct S32Accumulator {
  static constexpr int kRegisters = 4;
  static int64_t Get(uint32_t bits, int) { return static_cast<int32_t>(bits); }
  static uint32_t Put(uint32_t, int, int64_t value, bool saturate) {
    if (saturate) value = std::clamp<int64_t>(value, INT32_MIN, INT32_MAX);
    return static_cast<uint32_t>(value);
  }
};

// D = A B + C for 16 rows and 8 columns. The refs: D, A, B, C.
template <class A, class B, class C, int kK>
const Op* Multiply(const Op& op, Warp& warp) {
  if (!HasLanes(warp, kAllLanes)) return WaitForWarp(op, warp);
  if (warp.exec != kAllLanes) return Fault(warp, op, warp.exec, "not all lanes take part");
  constexpr int kRegisters = C::kRegisters;
  constexpr int kQuarters = kK * A::kBits / 128;
  const RowRef* d = LongRefs(op, warp);
  const RowRef* a = d + kRegisters;
  const RowRef* b = a + 2 * kQuarters;
  const RowRef* c = b + kQuarters;
  std::array<std::array<uint32_t, 32>, kRegisters> result = {};
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int which = kRegisters == 4 ? i : i / 2;
      const int row = lane / 4 + 8 * (i / 2);
      const int column = 2 * (lane % 4) + i % 2;
      const auto start = C::Get(warp.In<uint32_t>(c[which])[lane], i % 2);
      const auto sum = Dot<A, B, kK>(warp, a, b, row, column, start);
      result[which][lane] = C::Put(result[which][lane], i % 2, sum, (op.flags & kSaturate) != 0);
    }
  }
  for (int which = 0; which < kRegisters; ++which) {
    std::memcpy(warp.Out<uint32_t>(d[which]), result[which].data(), 128);
  }
  return &op + 1;
}

template <class A, class B, class C, int kK>
MatrixPick Shape() {
  constexpr int kQuarters = kK * A::kBits / 128;
  return {&Multiply<A, B, C, kK>, C::kRegisters, 2 * kQuarters, kQuarters, 0};
}

template <class E, int kShort>
std::optional<MatrixPick> PickFloat(Form& form, Type accumulator) {
  if (form.Take(kShort == 8 ? "m16n8k8" : "m16n8k4")) {
    if (accumulator == Type::kF32) return Shape<E, E, F32Accumulator, kShort>();
    if constexpr (std::is_same_v<E, F16Element>) return Shape<E, E, F16Accumulator, kShort>();
  }
  if (form.Take(kShort == 8 ? "m16n8k16" : "m16n8k8")) {
    if (accumulator == Type::kF32) return Shape<E, E, F32Accumulator, 2 * kShort>();
    if constexpr (std::is_same_v<E, F16Element>) return Shape<E, E, F16Accumulator, 2 * kShort>();
  }
  return std::nullopt;
}

template <class A, class B>
std::optional<MatrixPick> PickBytes(Form& form) {
  if (form.Take("m16n8k16")) return Shape<A, B, S32Accumulator, 16>();
  if (form.Take("m16n8k32")) return Shape<A, B, S32Accumulator, 32>();
  return std::nullopt;
}

std::optional<MatrixPick> PickTypes(Form& form, Type d, Type a, Type b) {
  if (d == Type::kS32) {
    if (a == Type::kS8 && b == Type::kS8) return PickBytes<S8Element, S8Element>(form);
    if (a == Type::kU8 && b == Type::kU8) return PickBytes<U8Element, U8Element>(form);
    if (a == Type::kS8 && b == Type::kU8) return PickBytes<S8Element, U8Element>(form);
    if (a == Type::kU8 && b == Type::kS8) return PickBytes<U8Element, S8Element>(form);
    return std::nullopt;
  }
  if (a != b) return std::nullopt;
  if (a == Type::kF16 && (d == Type::kF32 || d == Type::kF16)) {
    return PickFloat<F16Element, 8>(form, d);
  }
  if (a == Type::kBf16 && d == Type::kF32) return PickFloat<Bf16Element, 8>(form, d);
  if (a == Type::kTf32 && d == Type::kF32) return PickFloat<Tf32Element, 4>(form, d);
  return std::nullopt;
}

}  // namespace

std::optional<MatrixPick> PickMultiplyMatrices(Form& form) {
  if (!form.Take("sync") || !form.Take("aligned") || !form.Take("row") || !form.Take("col")) {
    return std::nullopt;
  }
  const uint32_t flags = form.Take("satfinite") ? kSaturate : 0;
  const auto d = form.TakeType();
  const auto a = form.TakeType();
  const auto b = form.TakeType();
  const auto c = form.TakeType();
  if (!d || !a || !b || !c || *c != *d) return std::nullopt;
  auto pick = PickTypes(form, *d, *a, *b);
  if (!pick || (flags != 0 && *d != Type::kS32)) return std::nullopt;
  pick->flags = flags;
  return pick;
}

std::optional<Pick> PickMoveMatrices(Form& form, bool store, int& count) {
  const bool fixed = form.Take("sync") && form.Take("aligned") && form.Take("m8n8");
  if (form.Take("x1")) count = 1;
  if (form.Take("x2")) count = 2;
  if (form.Take("x4")) count = 4;
  uint32_t flags = static_cast<uint32_t>(count) << kCountShift;
  if (form.Take("trans")) flags |= kTransposed;
  flags |= static_cast<uint32_t>(TakeSpace(form));
  if (!fixed || count == 0 || !form.Take("b16")) return std::nullopt;
  const Space space = static_cast<Space>(flags & F::kSpaceMask);
  if (space != Space::kShared && space != Space::kGeneric) return std::nullopt;
  return Pick{store ? &MoveMatrices<true> : &MoveMatrices<false>, {}, {}, flags};
}

}  // namespace onepass::sim
