// ld, st and prefetch.
#include <immintrin.h>

#include <bit>
#include <cstring>

#include "runtime/sim/addresses.h"
#include "runtime/sim/bank_conflicts.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/interleave.h"
#include "runtime/sim/memory_form.h"

namespace onepass::sim {
namespace {

using F = AccessFlags;

// A strong access stops a warp before blocks may not interleave freely; a second poll of the same
// word in one turn waits for the others to move.
bool MustWait(const Op& op, Warp& warp, bool store) {
  if ((op.flags & F::kStrong) == 0) return false;
  if (!warp.serial) return true;
  if (store) return false;
  if (warp.polled == &op) return true;
  warp.polled = &op;
  return false;
}

// Of an access that must wait: another path of the warp may go on meanwhile.
const Op* Postpone(const Op& op, Warp& warp) {
  if (!warp.serial || warp.others.empty()) return warp.StopAt(op, Stop::kOrdered);
  ++warp.unissued;
  return Reschedule(warp, &op, Path::State::kYielded);
}

void CountWindow(Warp& warp, const HostBytes& bytes, int64_t size) {
  Block& block = *warp.block;
  if (bytes.space == Space::kShared) {
    ++block.counts.shared_accesses;
    if (block.launch->count_traffic) {
      block.counts.bank_conflicts += BankConflicts(bytes.offset, warp.exec, size);
    }
  } else if (bytes.space == Space::kLocal) {
    ++block.counts.local_accesses;
  }
}

template <class M, class Bits>
Bits Extend(const uint8_t* from) {
  M value;
  std::memcpy(&value, from, sizeof(M));
  return static_cast<Bits>(
      static_cast<std::conditional_t<std::is_signed_v<M>, int64_t, uint64_t>>(value));
}

// Vectors of four words, by far the most that kernels move.
template <class M, class Bits, int N>
constexpr bool kFourWords = sizeof(M) == 4 && sizeof(Bits) == 4 && N == 4;

void LoadFourWords(const Op& op, const Warp& warp, const HostBytes& bytes) {
  alignas(64) uint32_t lanes[4][32];
  uint32_t* to[4];
  for (int n = 0; n < 4; ++n) {
    to[n] = warp.exec == kAllLanes ? warp.Out<uint32_t>(op.r[1 + n]) : lanes[n];
  }
  Deinterleave([&](int lane) { return bytes.base + bytes.offset[lane]; },
               {to[0], to[1], to[2], to[3]});
  if (warp.exec == kAllLanes) return;
  for (int n = 0; n < 4; ++n) Blend(warp.Out<uint32_t>(op.r[1 + n]), lanes[n], warp.exec);
}

// Whether memory has changed.
bool StoreFourWords(const Op& op, const Warp& warp, const HostBytes& bytes) {
  alignas(64) uint8_t packed[512];
  Interleave({warp.In<uint32_t>(op.r[1]), warp.In<uint32_t>(op.r[2]), warp.In<uint32_t>(op.r[3]),
              warp.In<uint32_t>(op.r[4])},
             packed);
  __m128i changed = _mm_setzero_si128();
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    auto* to = reinterpret_cast<__m128i*>(bytes.base + bytes.offset[lane]);
    const __m128i value = _mm_load_si128(reinterpret_cast<const __m128i*>(packed + 16 * lane));
    changed = _mm_or_si128(changed, _mm_xor_si128(value, _mm_loadu_si128(to)));
    _mm_storeu_si128(to, value);
  }
  return _mm_testz_si128(changed, changed) == 0;
}

// Apart from the accesses of contiguous lanes, whose stack frame would be as large.
template <class M, class Bits, int N>
[[gnu::noinline]] const Op* LoadLanes(const Op& op, Warp& warp, Space space) {
  const LaneAddresses addresses(op, warp, op.r[0], op.flags);
  HostBytes bytes;
  if (!bytes.Find(op, warp, addresses, sizeof(M) * N, /*store=*/false, space)) return nullptr;
  if (bytes.space != Space::kGlobal) {
    CountWindow(warp, bytes, sizeof(M) * N);
  } else if (warp.block->launch->count_traffic && space != Space::kConst) {
    const CachePolicy policy = PolicyOf(op, warp);
    const int64_t before = warp.block->log.useful_bytes;
    if (addresses.Uniform()) {
      warp.block->log.Read(addresses.First(), sizeof(M) * N, policy);
    } else {
      warp.block->log.Gather(addresses.at, warp.exec, sizeof(M) * N, policy);
    }
    warp.block->NoteLoad(op, warp.block->log.useful_bytes - before);
  }
  if constexpr (kFourWords<M, Bits, N>) {
    LoadFourWords(op, warp, bytes);
    return &op + 1;
  }
  for (int n = 0; n < N; ++n) {
    alignas(64) Bits lanes[32];
    for (int i = 0; i < 32; ++i) {
      lanes[i] = Extend<M, Bits>(bytes.base + bytes.offset[i] + n * sizeof(M));
    }
    Blend(warp.Out<Bits>(op.r[1 + n]), lanes, warp.exec);
  }
  return &op + 1;
}

template <class M, class Bits, int N>
const Op* Load(const Op& op, Warp& warp) {
  if (MustWait(op, warp, false)) return Postpone(op, warp);
  constexpr int64_t kBytes = sizeof(M) * N;
  Block& block = *warp.block;
  if (Checker* checker = block.launch->checker; checker != nullptr) [[unlikely]] {
    if (!checker->Access(op, warp, {AccessRecord::Kind::kRead, kBytes, sizeof(M)})) return nullptr;
  }
  if (const uint64_t start = ContiguousStart(op, warp, op.r[0], kBytes); start != 0) {
    const uint8_t* from = HostBytes::GlobalRange(warp, start, kBytes * 32, kBytes, false);
    if (from != nullptr) {
      if (block.launch->count_traffic) {
        block.log.Read(start, kBytes * 32, PolicyOf(op, warp));
        block.NoteLoad(op, kBytes * 32);
        if (block.log.runs().size() > block.launch->log_limit) warp.budget = 0;
      }
      if constexpr (kFourWords<M, Bits, N>) {
        uint32_t* const to[4] = {warp.Out<Bits>(op.r[1]), warp.Out<Bits>(op.r[2]),
                                 warp.Out<Bits>(op.r[3]), warp.Out<Bits>(op.r[4])};
        Deinterleave([from](int lane) { return from + 16 * lane; }, to);
        return &op + 1;
      }
      for (int n = 0; n < N; ++n) {
        Bits* to = warp.Out<Bits>(op.r[1 + n]);
#pragma GCC ivdep
        for (int i = 0; i < 32; ++i) to[i] = Extend<M, Bits>(from + (i * N + n) * sizeof(M));
      }
      return &op + 1;
    }
  }
  const Space space = static_cast<Space>(op.flags & F::kSpaceMask);
  return LoadLanes<M, Bits, N>(op, warp, space);
}

template <class M, class Bits, int N>
[[gnu::noinline]] const Op* StoreLanes(const Op& op, Warp& warp, Space space) {
  const LaneAddresses addresses(op, warp, op.r[0], op.flags);
  HostBytes bytes;
  if (!bytes.Find(op, warp, addresses, sizeof(M) * N, /*store=*/true, space)) return nullptr;
  if (bytes.space != Space::kGlobal) {
    CountWindow(warp, bytes, sizeof(M) * N);
  } else if (warp.block->launch->count_traffic) {
    warp.block->log.Scatter(addresses.at, warp.exec, sizeof(M) * N, PolicyOf(op, warp));
  }
  if constexpr (kFourWords<M, Bits, N>) {
    warp.block->progress += StoreFourWords(op, warp, bytes);
    return &op + 1;
  }
  bool changed = false;
  for (int n = 0; n < N; ++n) {
    const Bits* from = warp.In<Bits>(op.r[1 + n]);
    for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const M value = static_cast<M>(from[lane]);
      uint8_t* to = bytes.base + bytes.offset[lane] + n * sizeof(M);
      changed |= std::memcmp(to, &value, sizeof(M)) != 0;
      std::memcpy(to, &value, sizeof(M));
    }
  }
  warp.block->progress += changed;
  return &op + 1;
}

template <class M, class Bits, int N>
const Op* Store(const Op& op, Warp& warp) {
  if (MustWait(op, warp, true)) return Postpone(op, warp);
  constexpr int64_t kBytes = sizeof(M) * N;
  Block& block = *warp.block;
  if (Checker* checker = block.launch->checker; checker != nullptr) [[unlikely]] {
    const Checker::Doing doing = {AccessRecord::Kind::kWrite,
                                  kBytes,
                                  sizeof(M),
                                  /*address=*/0,
                                  /*values=*/1,
                                  sizeof(Bits)};
    if (!checker->Access(op, warp, doing)) return nullptr;
  }
  if (const uint64_t start = ContiguousStart(op, warp, op.r[0], kBytes); start != 0) {
    uint8_t* to = HostBytes::GlobalRange(warp, start, kBytes * 32, kBytes, true);
    if (to != nullptr) {
      ++block.progress;
      if (block.launch->count_traffic) {
        block.log.Write(start, kBytes * 32, PolicyOf(op, warp));
        if (block.log.runs().size() > block.launch->log_limit) warp.budget = 0;
      }
      const Bits* from[N];
      for (int n = 0; n < N; ++n) from[n] = warp.In<Bits>(op.r[1 + n]);
      if constexpr (kFourWords<M, Bits, N>) {
        Interleave(from, to);
        return &op + 1;
      }
      M* typed = reinterpret_cast<M*>(to);
#pragma GCC ivdep
      for (int i = 0; i < 32; ++i) {
        for (int n = 0; n < N; ++n) typed[i * N + n] = static_cast<M>(from[n][i]);
      }
      return &op + 1;
    }
  }
  const Space space = static_cast<Space>(op.flags & F::kSpaceMask);
  return StoreLanes<M, Bits, N>(op, warp, space);
}

const Op* Prefetch(const Op& op, Warp& warp) {
  const LaneAddresses addresses(op, warp, op.r[0], op.flags);
  if (!warp.block->launch->count_traffic) return &op + 1;
  uint64_t previous = ~uint64_t{0};
  for (uint32_t left = warp.exec; left != 0; left &= left - 1) {
    const uint64_t address = addresses.at[std::countr_zero(left)];
    if (address >> kLineBits == previous) continue;
    previous = address >> kLineBits;
    if (warp.block->launch->memory->Find(address) != nullptr) warp.block->log.Prefetch(address);
  }
  return &op + 1;
}

const Op* NoPrefetch(const Op& op, Warp& warp) { return &op + 1; }

template <class M, class Bits>
ExecFn OfVector(bool store, int vector) {
  switch (vector) {
    case 1:
      return store ? &Store<M, Bits, 1> : &Load<M, Bits, 1>;
    case 2:
      return store ? &Store<M, Bits, 2> : &Load<M, Bits, 2>;
    case 4:
      return store ? &Store<M, Bits, 4> : &Load<M, Bits, 4>;
    case 8:
      if constexpr (sizeof(M) <= 4) return store ? &Store<M, Bits, 8> : &Load<M, Bits, 8>;
      return nullptr;
    default:
      return nullptr;
  }
}

// The rare accesses whose register is wider than the type.
template <class M>
ExecFn OfWideRow(bool store, int vector) {
  if (vector != 1) return nullptr;
  return store ? &Store<M, uint64_t, 1> : &Load<M, uint64_t, 1>;
}

template <class M>
ExecFn OfRow(bool store, const Access& access) {
  if constexpr (sizeof(M) == 8) {
    return access.row == RowClass::k64 ? OfVector<M, uint64_t>(store, access.vector) : nullptr;
  } else {
    return access.row == RowClass::k64 ? OfWideRow<M>(store, access.vector)
                                       : OfVector<M, uint32_t>(store, access.vector);
  }
}

ExecFn OfType(bool store, const Access& access) {
  const bool is_signed = IsSigned(access.type);
  switch (BitsOf(access.type)) {
    case 8:
      return is_signed ? OfRow<int8_t>(store, access) : OfRow<uint8_t>(store, access);
    case 16:
      return is_signed ? OfRow<int16_t>(store, access) : OfRow<uint16_t>(store, access);
    case 32:
      return is_signed ? OfRow<int32_t>(store, access) : OfRow<uint32_t>(store, access);
    case 64:
      return OfRow<uint64_t>(store, access);
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<Pick> PickAccess(Form& form, bool store, Access& access) {
  access.space = TakeSpace(form);
  uint32_t flags = TakeCacheFlags(form) | TakeOrder(form);
  for (const int vector : {2, 4, 8}) {
    const char name[] = {'v', static_cast<char>('0' + vector), '\0'};
    if (form.Take(name)) access.vector = vector;
  }
  const auto type = form.TakeType();
  if (!type || (store && access.space == Space::kConst)) return std::nullopt;
  access.type = *type;
  if (access.space == Space::kShared || access.space == Space::kSharedCluster ||
      access.space == Space::kLocal || access.space == Space::kParam ||
      access.space == Space::kConst) {
    flags &= ~F::kStrong;  // seen by one block only
  }
  flags |= static_cast<uint32_t>(access.space);
  if (access.address32) flags |= F::kAddress32;
  const ExecFn fn = OfType(store, access);
  if (fn == nullptr) return std::nullopt;
  return Pick{fn, {}, {}, flags};
}

std::optional<Pick> PickPrefetch(Form& form) {
  const std::string_view base = form.base();
  const bool uniform = base == "prefetchu";
  form.Take("global");
  form.Take("local");
  if (form.Take("L1") || uniform) return Pick{&NoPrefetch};
  if (form.Take("L2") || form.Take("L2::evict_last") || form.Take("L2::evict_normal")) {
    return Pick{base == "prefetch" ? &Prefetch : &NoPrefetch};
  }
  return std::nullopt;
}

}  // namespace onepass::sim
