#include "runtime/sim/addresses.h"

#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/where.h"

namespace onepass::sim {
namespace {

constexpr std::string_view NameOf(Space space) {
  switch (space) {
    case Space::kLocal:
      return "local memory";
    case Space::kParam:
      return "parameters";
    default:
      return "memory";
  }
}

const Op* OutOfBounds(const Op& op, Warp& warp, int lane, bool store, int64_t bytes,
                      const std::string& what, Finding::Kind kind = Finding::Kind::kOutOfBounds) {
  return Fault(warp, op, 1u << lane,
               absl::StrFormat("%s of %d bytes %s", store ? "write" : "read", bytes, what), kind);
}

// The fault of one lane's global access, or true.
bool CheckGlobal(const Op& op, Warp& warp, int lane, uint64_t address, int64_t bytes, bool store) {
  const GlobalMemory& memory = *warp.block->launch->memory;
  const GlobalMemory::Buffer* buffer = memory.Find(address);
  const bool inside = buffer != nullptr && address >= buffer->begin && address < buffer->end &&
                      static_cast<uint64_t>(bytes) <= buffer->end - address;
  if (!inside) {
    return OutOfBounds(op, warp, lane, store, bytes, "out of bounds: " + memory.Describe(address));
  }
  if ((address & (bytes - 1)) != 0) {
    return OutOfBounds(op, warp, lane, store, bytes, "misaligned: " + memory.Describe(address),
                       Finding::Kind::kMisaligned);
  }
  if (store && buffer->read_only) {
    return OutOfBounds(op, warp, lane, store, bytes, "to constant " + memory.Describe(address));
  }
  return true;
}

// Whether addresses in shared memory may be of other blocks, or of this one by its rank: without
// clusters every block is one of its own.
bool ReachesCluster(const Block& block, const LaneAddresses& addresses) {
  if (block.launch->cluster_blocks > 1) return true;
  uint64_t all = 0;
  for (const uint64_t at : addresses.at) all |= at;
  return static_cast<uint32_t>(all) >> kRankShift != 0;
}

}  // namespace

Eviction EvictionOf(uint64_t bits) {
  return bits == kPolicyEvictFirst  ? Eviction::kFirst
         : bits == kPolicyEvictLast ? Eviction::kLast
                                    : Eviction::kNormal;
}

LaneAddresses::LaneAddresses(const Op& op, const Warp& warp, RowRef ref, uint32_t flags) {
  const int64_t displacement = op.offset;
  if ((flags & AccessFlags::kAddress32) != 0) {
    const uint32_t* row = warp.In<uint32_t>(ref);
    for (int i = 0; i < 32; ++i) {
      at[i] = static_cast<uint32_t>(row[i] + static_cast<uint32_t>(displacement));
    }
  } else {
    const uint64_t* row = warp.In<uint64_t>(ref);
    for (int i = 0; i < 32; ++i) at[i] = row[i] + displacement;
  }
  first = std::countr_zero(warp.exec);
  if (warp.exec != kAllLanes) {
    const uint64_t filler = at[first];
    for (int i = 0; i < 32; ++i) at[i] = (warp.exec >> i & 1) != 0 ? at[i] : filler;
  }
}

Space SpaceOfAddress(uint64_t generic) {
  if (generic - kSharedWindow < kWindowBytes) return Space::kShared;
  if (generic - kLocalWindow < kWindowBytes) return Space::kLocal;
  if (generic - kParamWindow < kWindowBytes) return Space::kParam;
  return Space::kGlobal;
}

bool HostBytes::FindWindow(const Op& op, Warp& warp, const LaneAddresses& addresses, int64_t bytes,
                           uint64_t window, int64_t size, bool store) {
  const uint64_t last = static_cast<uint64_t>(size - bytes);
  uint64_t wrong = size < bytes;
  for (int i = 0; i < 32; ++i) {
    offset[i] = addresses.at[i] - window;
    wrong |= (offset[i] > last) | (offset[i] & (bytes - 1));
  }
  for (int i = 0; i < 32 && wrong != 0; ++i) {
    if (size >= bytes && offset[i] <= last && (offset[i] & (bytes - 1)) == 0) continue;
    const bool misaligned = size >= bytes && offset[i] <= last;
    const std::string place =
        space == Space::kShared
            ? SharedAddress(*warp.block, offset[i], static_cast<int>(bytes))
            : absl::StrFormat("byte %d of %d of %s", static_cast<int64_t>(offset[i]), size,
                              NameOf(space));
    return OutOfBounds(op, warp, i, store, bytes,
                       absl::StrCat(misaligned ? "misaligned: " : "out of bounds: ", place),
                       misaligned ? Finding::Kind::kMisaligned : Finding::Kind::kOutOfBounds);
  }
  return true;
}

// Lane by lane: the shared memory of any block of the cluster.
bool HostBytes::FindInCluster(const Op& op, Warp& warp, const LaneAddresses& addresses,
                              int64_t bytes, uint64_t window, bool store) {
  for (int i = 0; i < 32; ++i) {
    const uint64_t at = addresses.at[i] - window;
    const uint8_t* host = warp.block->cluster->SharedAt(*warp.block, at, bytes);
    if (host == nullptr || (at & (bytes - 1)) != 0) {
      return OutOfBounds(
          op, warp, i, store, bytes,
          absl::StrCat(host == nullptr ? "out of bounds: " : "misaligned: ",
                       SharedAddress(*warp.block, at, static_cast<int>(bytes))),
          host == nullptr ? Finding::Kind::kOutOfBounds : Finding::Kind::kMisaligned);
    }
    offset[i] = static_cast<uint64_t>(host - base);
  }
  return true;
}

bool HostBytes::Find(const Op& op, Warp& warp, const LaneAddresses& addresses, int64_t bytes,
                     bool store, Space of) {
  Block& block = *warp.block;
  const bool generic = of == Space::kGeneric;
  space = generic ? SpaceOfAddress(addresses.First()) : of;
  const bool may_reach = generic || of == Space::kSharedCluster;
  if (space == Space::kSharedCluster) space = Space::kShared;
  if (space == Space::kShared && may_reach && ReachesCluster(block, addresses)) {
    base = block.shared;
    return FindInCluster(op, warp, addresses, bytes, generic ? kSharedWindow : 0, store);
  }
  switch (space) {
    case Space::kShared:
      base = block.shared;
      return FindWindow(op, warp, addresses, bytes, generic ? kSharedWindow : 0,
                        block.launch->shared_bytes, store);
    case Space::kLocal: {
      const int64_t size = block.launch->kernel->local_bytes;
      base = block.local + warp.index * 32 * size;
      if (!FindWindow(op, warp, addresses, bytes, generic ? kLocalWindow : 0, size, store)) {
        return false;
      }
      for (int i = 0; i < 32; ++i) {
        const int lane = (warp.exec >> i & 1) != 0 ? i : addresses.first;
        offset[i] += lane * size;
      }
      return true;
    }
    case Space::kParam:
      base = const_cast<uint8_t*>(block.launch->parameters);
      if (store) return OutOfBounds(op, warp, addresses.first, store, bytes, "to the parameters");
      return FindWindow(op, warp, addresses, bytes, kParamWindow,
                        block.launch->kernel->parameter_bytes, store);
    default:
      break;
  }
  space = Space::kGlobal;
  const GlobalMemory::Buffer* buffer = block.launch->memory->Find(addresses.First());
  if (buffer != nullptr) {
    base = buffer->host;
    const uint64_t size = buffer->end - buffer->begin;
    uint64_t wrong = size < static_cast<uint64_t>(bytes) || (store && buffer->read_only);
    const uint64_t last = size - bytes;
    for (int i = 0; i < 32; ++i) {
      offset[i] = addresses.at[i] - buffer->begin;
      wrong |= (offset[i] > last) | (addresses.at[i] & (bytes - 1));
    }
    if (wrong == 0) return true;
  }
  // Lane by lane: more than one buffer, or a fault.
  for (int i = 0; i < 32; ++i) {
    if (!CheckGlobal(op, warp, i, addresses.at[i], bytes, store)) return false;
    const GlobalMemory::Buffer* of_lane = block.launch->memory->Find(addresses.at[i]);
    if (i == 0) base = of_lane->host;
    offset[i] = static_cast<uint64_t>(of_lane->host + (addresses.at[i] - of_lane->begin) - base);
  }
  return true;
}

}  // namespace onepass::sim
