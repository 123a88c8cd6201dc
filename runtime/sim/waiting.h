// What a warp waits for, in words: for the report of a deadlock.
#pragma once

#include <optional>
#include <string>

#include "runtime/sim/block.h"

namespace onepass::sim {

// "warp 3 waits at PTX line 12: bar.sync 1, 64 (barrier 1: 32 of 64 threads have arrived)"; each
// path of the warp where it has several.
std::string DescribeWaiting(const Warp& warp);
// "lanes 0000ffff at PTX line 12: bar.sync 0; lanes ffff0000 at ...": the paths that are aside.
std::string DescribePaths(const Warp& warp);

// Of exec_mbarrier.cc and exec_cluster.cc: what the lowest of `lanes` waits for, where `op` waits
// for such a barrier.
std::optional<std::string> DescribeMbarrier(const Op& op, const Warp& warp, uint32_t lanes);
std::optional<std::string> DescribeClusterBarrier(const Op& op, const Warp& warp);

}  // namespace onepass::sim
