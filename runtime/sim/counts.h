// What a simulated GPU counted while it executed kernels.
//
// The counts are a function of the kernels, their launches, the addresses and the Machine. They do
// not depend on the number of host threads.
#pragma once

#include <cstdint>
#include <string>

namespace onepass::sim {

struct Counts {
  // DRAM traffic of the L2 model, in bytes; whole 32-byte sectors. Includes the final write-back.
  int64_t dram_read_bytes = 0;
  int64_t dram_write_bytes = 0;
  // Sectors that reached L2 (L1 misses, stores and atomics), times 32.
  int64_t l2_read_bytes = 0;
  int64_t l2_write_bytes = 0;
  // Global accesses as the warps asked for them, before any cache: distinct sectors of each warp
  // access, and the distinct bytes in them that a lane read or wrote.
  int64_t sectors_requested = 0;
  int64_t useful_bytes = 0;
  // Shared memory: accesses by warps, and the passes over the banks beyond those that the width of
  // the access needs.
  int64_t shared_accesses = 0;
  int64_t bank_conflicts = 0;
  int64_t local_accesses = 0;  // warp accesses to local memory (spills, indexed arrays)
  int64_t warp_instructions = 0;
  int64_t barriers = 0;        // block-wide barriers completed
  int64_t global_atomics = 0;  // lanes' atomic operations on global memory
  int64_t launches = 0;
  // Slots of each pipe, in hundredths of a warp's (pipes.h), and the time of the slowest pipe,
  // launch after launch.
  int64_t issue_slots = 0;
  int64_t alu_slots = 0;
  int64_t fma_slots = 0;
  int64_t fp64_slots = 0;
  int64_t special_slots = 0;
  int64_t lsu_slots = 0;
  int64_t pipe_picoseconds = 0;
  // Distinct bytes of global memory that warps loaded, and the sum over them of the bytes that
  // were in flight on an SM with each.
  int64_t loaded_bytes = 0;
  int64_t loaded_in_flight = 0;

  int64_t dram_bytes() const { return dram_read_bytes + dram_write_bytes; }
  int64_t l2_bytes() const { return l2_read_bytes + l2_write_bytes; }
  // Useful bytes over bytes of the sectors asked for; 1 where nothing was asked for.
  double sector_efficiency() const {
    return sectors_requested == 0 ? 1.0 : useful_bytes / (32.0 * sectors_requested);
  }

  double pipe_us() const { return static_cast<double>(pipe_picoseconds) * 1e-6; }
  int64_t bytes_in_flight_per_sm() const {
    return loaded_bytes == 0 ? 0 : loaded_in_flight / loaded_bytes;
  }

  Counts& operator+=(const Counts& other);
  bool operator==(const Counts&) const = default;
  std::string ToString() const;  // one line of name=value pairs
};

}  // namespace onepass::sim
