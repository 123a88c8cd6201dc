#include "runtime/sim/lane_bytes.h"

#include "absl/strings/str_format.h"
#include "runtime/sim/addresses.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/where.h"

namespace onepass::sim {
namespace {

uint8_t* Refuse(const Op& op, Warp& warp, int lane, const LaneRange& range, std::string_view what,
                const std::string& where) {
  Fault(warp, op, 1u << lane,
        absl::StrFormat("%s of %d bytes at %s: %s", range.store ? "write" : "read", range.bytes,
                        what, where),
        what == "misaligned" ? Finding::Kind::kMisaligned : Finding::Kind::kOutOfBounds);
  return nullptr;
}

std::string InSharedMemory(const Warp& warp, uint64_t at) {
  return SharedAddress(*warp.block, at, 1);
}

uint8_t* InGlobal(const Op& op, Warp& warp, int lane, const LaneRange& range) {
  const GlobalMemory& memory = *warp.block->launch->memory;
  const GlobalMemory::Buffer* buffer = memory.Find(range.address);
  const bool inside = buffer != nullptr && range.address >= buffer->begin &&
                      range.address < buffer->end &&
                      static_cast<uint64_t>(range.bytes) <= buffer->end - range.address;
  const std::string where = inside ? "" : memory.Describe(range.address);
  if (!inside) return Refuse(op, warp, lane, range, "out of bounds", where);
  if (range.store && buffer->read_only) {
    return Refuse(op, warp, lane, range, "constant", memory.Describe(range.address));
  }
  return buffer->host + (range.address - buffer->begin);
}

uint8_t* InLocal(const Op& op, Warp& warp, int lane, const LaneRange& range) {
  const Block& block = *warp.block;
  const int64_t size = block.launch->kernel->local_bytes;
  const int64_t offset = static_cast<int64_t>(range.address - kLocalWindow);
  if (offset > size - range.bytes) {
    return Refuse(op, warp, lane, range, "out of bounds",
                  absl::StrFormat("byte %d of %d of local memory", offset, size));
  }
  return block.local + (warp.index * 32 + lane) * size + offset;
}

}  // namespace

uint8_t* LaneBytes(const Op& op, Warp& warp, int lane, const LaneRange& range) {
  const Space space = SpaceOfAddress(range.address);
  if ((range.address & static_cast<uint64_t>(range.alignment - 1)) != 0) {
    return Refuse(op, warp, lane, range, "misaligned",
                  space == Space::kShared ? InSharedMemory(warp, range.address)
                                          : warp.block->launch->memory->Describe(range.address));
  }
  if (space == Space::kGlobal) return InGlobal(op, warp, lane, range);
  if (space == Space::kLocal) return InLocal(op, warp, lane, range);
  if (space == Space::kShared) {
    const Block& block = *warp.block;
    const uint64_t at = range.address - kSharedWindow;
    uint8_t* host = block.cluster->SharedAt(block, at, range.bytes);
    return host != nullptr
               ? host
               : Refuse(op, warp, lane, range, "out of bounds", InSharedMemory(warp, at));
  }
  return Refuse(op, warp, lane, range, "out of bounds", "the parameters");
}

uint8_t* SharedBytes(const Op& op, Warp& warp, int lane, const LaneRange& range) {
  uint8_t* bytes = LaneBytes(op, warp, lane, range);
  if (bytes == nullptr || SpaceOfAddress(range.address) == Space::kShared) return bytes;
  return Refuse(op, warp, lane, range, "an address outside shared memory",
                warp.block->launch->memory->Describe(range.address));
}

uint8_t* GlobalBytes(const Op& op, Warp& warp, int lane, const LaneRange& range) {
  uint8_t* bytes = LaneBytes(op, warp, lane, range);
  if (bytes == nullptr || SpaceOfAddress(range.address) == Space::kGlobal) return bytes;
  return Refuse(op, warp, lane, range, "an address outside global memory",
                absl::StrFormat("0x%x", range.address));
}

}  // namespace onepass::sim
