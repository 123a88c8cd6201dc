// How often a launch executed each operation of its kernel.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/sim/counts.h"
#include "runtime/sim/machine.h"
#include "runtime/sim/pipes.h"
#include "runtime/sim/program.h"

namespace onepass::sim {

struct OpTally {
  uint64_t executed = 0;      // by warps
  uint64_t loaded_bytes = 0;  // distinct bytes of global memory that came into registers
};

struct TalliedLaunch {
  const Kernel& kernel;
  const std::vector<Slots>& slots;    // by operation
  const std::vector<OpTally>& tally;  // by operation
  uint64_t blocks = 0;
  int64_t warps_per_sm = 0;  // resident
};

// Adds the slots of each pipe and the time of the slowest. All SMs that have a block are equally
// busy; a bank conflict takes the load-store pipe as long as an access does.
void AddPipes(const TalliedLaunch& launch, const Machine& machine, int64_t bank_conflicts,
              Counts& counts);

// Adds the bytes loaded and, weighted by them, the bytes in flight.
//
// Loads form batches: in the order of the code, until an instruction reads what one of them
// brought, waits for copies, or jumps back. A warp has a batch in flight, as many bytes as it
// loads there each time.
void AddBytesInFlight(const TalliedLaunch& launch, Counts& counts);

}  // namespace onepass::sim
