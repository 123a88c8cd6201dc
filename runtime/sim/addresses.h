// From the addresses of a warp's lanes to bytes on the host, with every check on the way.
#pragma once

#include <bit>
#include <cstdint>

#include "runtime/sim/access_log.h"
#include "runtime/sim/block.h"
#include "runtime/sim/policy.h"
#include "runtime/sim/syntax.h"
#include "runtime/sim/warp.h"

namespace onepass::sim {

// flags of an access, a prefetch or an atomic.
struct AccessFlags {
  static constexpr uint32_t kSpaceMask = 7;       // Space
  static constexpr uint32_t kAddress32 = 1 << 3;  // the address register has 32 bits
  static constexpr uint32_t kEvictFirst = 1 << 4;
  static constexpr uint32_t kEvictLast = 1 << 5;
  static constexpr uint32_t kSkipL1 = 1 << 6;
  static constexpr uint32_t kKeepOutOfL1 = 1 << 7;
  static constexpr uint32_t kStrong = 1 << 8;     // ordered with the other blocks
  static constexpr uint32_t kHasResult = 1 << 9;  // atom, not red
  static constexpr uint32_t kNegatedSource = 1 << 10;
  // How the access orders others, for those who check races.
  static constexpr uint32_t kStrongOrder = 1 << 11;  // volatile, relaxed or more
  static constexpr uint32_t kAcquire = 1 << 12;
  static constexpr uint32_t kRelease = 1 << 13;
  static constexpr uint32_t kBlockScope = 1 << 14;
  static constexpr uint32_t kClusterScope = 1 << 15;
  static constexpr uint32_t kOrderMask =
      kStrongOrder | kAcquire | kRelease | kBlockScope | kClusterScope;
  static constexpr uint32_t kReadOnly = 1 << 23;  // ld.nc: nobody may write it in this launch
};

// Above the flags: which of r[] is a cache policy; 0: none.
inline constexpr int kPolicyShift = 24;

inline CachePolicy PolicyOf(uint32_t flags) {
  CachePolicy policy;
  if ((flags & AccessFlags::kEvictFirst) != 0) policy.eviction = Eviction::kFirst;
  if ((flags & AccessFlags::kEvictLast) != 0) policy.eviction = Eviction::kLast;
  policy.use_l1 = (flags & AccessFlags::kSkipL1) == 0;
  policy.fill_l1 = (flags & (AccessFlags::kKeepOutOfL1 | AccessFlags::kSkipL1)) == 0;
  return policy;
}
// The eviction that the policy in a register says.
Eviction EvictionOf(uint64_t bits);
// The same where the operation may have a policy as an operand, which goes before its modifiers.
[[gnu::always_inline]] inline CachePolicy PolicyOf(const Op& op, const Warp& warp) {
  CachePolicy policy = PolicyOf(op.flags);
  if (const uint32_t which = op.flags >> kPolicyShift; which != 0) [[unlikely]] {
    policy.eviction = EvictionOf(warp.In<uint64_t>(op.r[which])[std::countr_zero(warp.exec)]);
  }
  return policy;
}

// The byte addresses r[ref] + op.offset of the executing lanes. Lanes that do not execute get the
// address of the first that does, so that loops may read all 32.
struct LaneAddresses {
  LaneAddresses(const Op& op, const Warp& warp, RowRef ref, uint32_t flags);

  bool Uniform() const {
    uint64_t difference = 0;
    for (int i = 0; i < 32; ++i) difference |= at[i] ^ at[0];
    return difference == 0;
  }
  uint64_t First() const { return at[first]; }

  alignas(64) uint64_t at[32];
  int first;  // lane
};

// The first address of an access of all lanes to global memory, each `bytes` bytes behind the lane
// before; 0 where it is none for sure.
[[gnu::always_inline]] inline uint64_t ContiguousStart(const Op& op, const Warp& warp, RowRef ref,
                                                       uint64_t bytes) {
  using F = AccessFlags;
  const bool maybe = warp.exec == kAllLanes && (op.flags & F::kAddress32) == 0 &&
                     (op.flags & F::kSpaceMask) <= static_cast<uint32_t>(Space::kGlobal);
  if (!maybe) return 0;
  const uint64_t* row = warp.In<uint64_t>(ref);
  uint64_t difference = 0;
  for (int i = 0; i < 32; ++i) difference |= row[i] - (row[0] + i * bytes);
  return difference == 0 ? row[0] + static_cast<int64_t>(op.offset) : 0;
}

// Finds the host bytes of each lane's access of `bytes` bytes. A generic access is sorted into its
// space by the first lane's address. Where anything is wrong: reports the fault and returns false.
class HostBytes {
 public:
  bool Find(const Op& op, Warp& warp, const LaneAddresses& addresses, int64_t bytes, bool store,
            Space space);
  // The buffer that holds the whole range of a contiguous access of all lanes, in order; null: look
  // lane by lane.
  static const GlobalMemory::Buffer* GlobalBuffer(const Warp& warp, uint64_t address,
                                                  uint64_t bytes, uint64_t alignment, bool store) {
    const GlobalMemory::Buffer* buffer = warp.block->launch->memory->Find(address);
    if (buffer == nullptr || (address & (alignment - 1)) != 0) return nullptr;
    const uint64_t offset = address - buffer->begin;
    const uint64_t size = buffer->end - buffer->begin;
    if (offset > size || size - offset < bytes || (store && buffer->read_only)) return nullptr;
    return buffer;
  }
  // Its bytes on the host.
  static uint8_t* GlobalRange(const Warp& warp, uint64_t address, uint64_t bytes,
                              uint64_t alignment, bool store) {
    const auto* buffer = GlobalBuffer(warp, address, bytes, alignment, store);
    return buffer == nullptr ? nullptr : buffer->host + (address - buffer->begin);
  }

  uint8_t* base = nullptr;          // of all lanes, where one buffer holds them
  alignas(64) uint64_t offset[32];  // from base
  Space space = Space::kGlobal;     // kGlobal, kShared, kLocal, kParam

 private:
  bool FindInCluster(const Op& op, Warp& warp, const LaneAddresses& addresses, int64_t bytes,
                     uint64_t window, bool store);
  bool FindWindow(const Op& op, Warp& warp, const LaneAddresses& addresses, int64_t bytes,
                  uint64_t window, int64_t size, bool store);
};

Space SpaceOfAddress(uint64_t generic);

}  // namespace onepass::sim
