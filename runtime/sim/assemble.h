// Turns a draft into the code that is executed.
#pragma once

#include "runtime/sim/draft.h"
#include "runtime/sim/program.h"

namespace onepass::sim {

// The draft's last operation is an unguarded exit. Lays the blocks out, allocates registers and
// constants, resolves labels. `kernel` gets everything but its name and parameters. Returns the
// 32-bit registers that a thread needs.
int Assemble(Draft draft, Kernel& kernel);

}  // namespace onepass::sim
