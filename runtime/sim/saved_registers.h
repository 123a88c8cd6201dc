// Which registers the calls inside routines save.
#pragma once

#include "runtime/sim/draft.h"

namespace onepass::sim {

// The draft saves and restores, around each call from inside a routine, every register that existed
// there. This keeps those that are live behind the call, gives them their places on the stack, and
// makes the other saves and restores operations without effect.
void KeepLiveRegisters(Draft& draft);

}  // namespace onepass::sim
