// Drops the virtual registers that no operation names: a declaration of thousands costs nothing.
#pragma once

#include "runtime/sim/draft.h"

namespace onepass::sim {

// Renumbers the registers of operations and saved calls; their order stays.
void DropUnusedRegisters(Draft& draft);

}  // namespace onepass::sim
