#include "runtime/sim/where.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/block.h"

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
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && plain != nullptr ? std::string(plain.get()) : name;
}

std::string SharedPlace(const Launch& launch, int64_t offset, int element_bytes) {
  const std::string bytes = absl::StrFormat(" (byte %d of %d)", offset, launch.shared_bytes);
  std::string name;
  for (size_t i = 0; i < launch.kernel->shared.size(); ++i) {  // the last that begins before it
    const SharedVariable& variable = launch.kernel->shared[i];
    const int unit = std::max({variable.element_bytes, element_bytes, 1});
    const int64_t index = (offset - launch.shared_begin[i]) / unit;
    if (offset < launch.shared_begin[i]) continue;
    name = absl::StrFormat(" %s[%d]", Demangled(variable.name), index);
  }
  return "shared memory" + name + bytes;
}

}  // namespace onepass::sim
