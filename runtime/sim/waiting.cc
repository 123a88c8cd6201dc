#include "runtime/sim/waiting.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/addresses.h"
#include "runtime/sim/where.h"

namespace onepass::sim {
namespace {

std::optional<std::string> DescribeAwaited(const Op& op, const Warp& warp, uint32_t lanes) {
  auto awaited = DescribeMbarrier(op, warp, lanes);
  if (!awaited) awaited = DescribeClusterBarrier(op, warp);
  return awaited;
}

std::string DescribeBlockBarrier(const Warp& warp, const Op& op) {
  const Block& block = *warp.block;
  const BarrierRequest request = RequestOf(warp, op);
  const BlockBarrier& barrier = block.barriers[request.barrier & 15];
  uint32_t expected = barrier.expected;
  for (const Warp& other : block.warps) {
    if (barrier.expected == 0 && other.live != 0) expected += 32;
  }
  return absl::StrFormat("barrier %d: %d of %d threads have arrived", request.barrier,
                         barrier.arrived, expected);
}

// The word that a strong load looks at again and again.
std::string DescribePolled(const Warp& warp, const Op& op) {
  const LaneAddresses addresses(op, warp, op.r[0], op.flags);
  return "polls " + warp.block->launch->memory->Describe(addresses.First());
}

// Where a path waits, and for what. A path that polls stands at its operation or just behind it.
std::string DescribePath(const Warp& warp, const Op* at, uint32_t lanes, bool polls) {
  const Kernel& kernel = *warp.block->launch->kernel;
  auto awaited = DescribeAwaited(*at, warp, lanes);
  if (!awaited && polls && at != kernel.ops.data()) {
    awaited = DescribeAwaited(at[-1], warp, lanes);
    if (awaited) --at;
  }
  if (!awaited && warp.stop == Stop::kBarrier) awaited = DescribeBlockBarrier(warp, *at);
  if (!awaited && at == warp.polled) awaited = DescribePolled(warp, *at);
  return absl::StrCat(AtLine(kernel, *at), awaited ? absl::StrCat(" (", *awaited, ")") : "");
}

}  // namespace

std::string DescribePaths(const Warp& warp) {
  std::string text;
  for (const Path& path : warp.others) {
    absl::StrAppend(&text, text.empty() ? "" : "; ",
                    absl::StrFormat("lanes %08x%s", path.lanes,
                                    DescribePath(warp, path.at, path.lanes,
                                                 path.state == Path::State::kPolling)));
  }
  return text;
}

std::string DescribeWaiting(const Warp& warp) {
  std::string text = absl::StrCat("warp ", warp.index, " waits");
  if (warp.lanes != 0) {
    absl::StrAppend(&text, DescribePath(warp, warp.resume, warp.lanes, warp.stop == Stop::kPoll));
  }
  if (warp.others.empty()) return text;
  return absl::StrCat(text, warp.lanes != 0 ? ", its " : ": ", DescribePaths(warp));
}

}  // namespace onepass::sim
