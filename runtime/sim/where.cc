#include "runtime/sim/where.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/block.h"
#include "runtime/sim/cluster.h"

namespace onepass::sim {

std::string LineOf(const Kernel& kernel, const Op& op) {
  const int32_t index = kernel.origin_of[&op - kernel.ops.data()];
  if (index < 0) return "";
  const Origin& origin = kernel.origins[index];
  std::string line = absl::StrFormat("PTX line %d: %s", origin.line, origin.text);
  if (!origin.source.empty()) absl::StrAppend(&line, " (", origin.source, ")");
  return line;
}

std::string AtLine(const Kernel& kernel, const Op& op) {
  const std::string line = LineOf(kernel, op);
  return line.empty() ? line : " at " + line;
}

std::string BlockName(const Launch& launch, uint64_t block) {
  const uint64_t gx = launch.grid[0], gy = launch.grid[1];
  return absl::StrFormat("(%d,%d,%d)", block % gx, block / gx % gy, block / gx / gy);
}

std::string ThreadOf(const Launch& launch, uint64_t block, int warp, int lane) {
  const uint32_t thread = warp * 32 + lane;
  const uint32_t x = launch.block[0], y = launch.block[1];
  return absl::StrFormat("block %s thread (%d,%d,%d)", BlockName(launch, block), thread % x,
                         thread / x % y, thread / x / y);
}

std::string Demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // else "s" would be a type
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && plain != nullptr ? std::string(plain.get()) : name;
}

namespace {

// The variable that the byte is of or behind, the first one for a byte before all; -1: there is
// none.
int NearestShared(const Launch& launch, int64_t offset) {
  int nearest = -1;
  for (int i = 0; i < static_cast<int>(launch.kernel->shared.size()); ++i) {
    const int64_t begin = launch.shared_begin[i];
    const int64_t best = nearest < 0 ? begin : launch.shared_begin[nearest];
    const bool first = nearest < 0 || (best > offset && begin < best);
    if (first || (begin <= offset && begin >= best)) nearest = i;
  }
  return nearest;
}

int64_t DynamicBegin(const Launch& launch) {
  return (launch.kernel->static_shared_bytes + 127) / 128 * 128;
}

}  // namespace

std::string SharedPlace(const Launch& launch, int64_t offset, int element_bytes) {
  const int64_t dynamic = launch.dynamic_shared_bytes;
  const int64_t size =
      dynamic > 0 ? DynamicBegin(launch) + dynamic : launch.kernel->static_shared_bytes;
  std::string name;
  int64_t byte = offset;
  if (const int nearest = NearestShared(launch, offset); nearest >= 0) {
    const SharedVariable& variable = launch.kernel->shared[nearest];
    const int64_t unit = std::max({variable.element_bytes, element_bytes, 1});
    const int64_t inside = offset - launch.shared_begin[nearest];
    const int64_t index = inside >= 0 ? inside / unit : -((unit - 1 - inside) / unit);
    name = absl::StrFormat(" %s[%d]", Demangled(variable.name), index);
    byte = inside + (variable.dynamic ? DynamicBegin(launch) : variable.offset);
  } else if (dynamic > 0 && offset >= launch.dynamic_shared_start) {
    byte = offset - launch.dynamic_shared_start + DynamicBegin(launch);
  }
  return absl::StrFormat("shared memory%s (byte %d of %d)", name, byte, size);
}

std::string SharedAddress(const Block& block, uint64_t address, int element_bytes) {
  const uint64_t rank = static_cast<uint32_t>(address) >> kRankShift;
  const auto& blocks = block.cluster->blocks;
  // Before the first byte: what a negative index makes of a 32-bit address.
  const auto before = static_cast<int32_t>(static_cast<uint32_t>(address));
  if (before < 0 && before > -(1 << kRankShift)) {
    return SharedPlace(*block.launch, before, element_bytes);
  }
  if (rank > blocks.size()) {
    return absl::StrFormat("rank %d of a cluster of %d", rank - 1, blocks.size());
  }
  const auto offset = static_cast<int64_t>(address & kSharedOffsetMask);
  const std::string place = SharedPlace(*block.launch, offset, element_bytes);
  if (rank == 0 || blocks[rank - 1] == &block) return place;
  return absl::StrCat(place, " of block ", BlockName(*block.launch, blocks[rank - 1]->index));
}

}  // namespace onepass::sim
