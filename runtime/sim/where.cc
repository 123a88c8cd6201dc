#include "runtime/sim/where.h"

#include "absl/strings/str_format.h"
#include "runtime/sim/block.h"

namespace onepass::sim {

std::string LineOf(const Kernel& kernel, const Op& op) {
  const int32_t index = kernel.origin_of[&op - kernel.ops.data()];
  if (index < 0) return "";
  const Origin& origin = kernel.origins[index];
  return absl::StrFormat("PTX line %d: %s", origin.line, origin.text);
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

}  // namespace onepass::sim
