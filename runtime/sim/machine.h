// What a simulated chip has. Plain data: the tables of chips live with the caller.
#pragma once

#include <cstdint>
#include <string>

namespace onepass::sim {

// The defaults are those of an H200; every number is per chip unless its name says otherwise.
struct Machine {
  std::string name = "h200";
  int sms = 132;
  int max_threads_per_sm = 2048;
  int max_blocks_per_sm = 32;
  int max_cluster_blocks = 16;                  // 1: the chip has no clusters
  int registers_per_sm = 65536;                 // 32-bit registers
  int64_t shared_bytes_per_sm = 228 * 1024;     // 1 KB of it per resident block is reserved
  int64_t shared_bytes_per_block = 227 * 1024;  // the opt-in maximum, static and dynamic together
  int64_t l1_bytes_per_sm = 256 * 1024;         // the L1 gets what shared memory does not use
  int arch = 90;                                // compute capability times ten
  double clock_ghz = 1.755;
  // What an SM advances in a clock: warps issued, and lanes of each pipe.
  int issue_warps = 4;
  int alu_lanes = 64;
  int fma_lanes = 128;
  int fp64_lanes = 64;
  int special_lanes = 16;
  int lsu_lanes = 32;
  int64_t l2_bytes = 50 * 1024 * 1024;
  int64_t global_bytes = int64_t{141} * 1000 * 1000 * 1000;

  bool operator==(const Machine&) const = default;
};

}  // namespace onepass::sim
