// A .sync operation that stands at several places for the lanes of one mask: PTX lets lanes meet
// that execute it with the same qualifiers and the same mask, wherever each stands.
#pragma once

#include <cstdint>

#include "runtime/sim/op.h"
#include "runtime/sim/warp.h"

namespace onepass::sim {

// flags of shfl, vote, match, redux and elect.
struct MeetFlags {
  static constexpr uint32_t kNegated = 1;  // the predicate r[1] of a vote
  static constexpr uint32_t kWide = 2;     // match of 64 bits
};

// The running path has come to `op`, whose mask is `needed`, and not all lanes of it stand there.
// Executes it for all paths that wait at such an operation, if together they are complete; else
// the path waits. What lanes get is defined for the checker of registers.
const Op* Meet(const Op& op, Warp& warp, uint32_t needed);

}  // namespace onepass::sim
