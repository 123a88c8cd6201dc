// Which functions of a module can call themselves.
#pragma once

#include "absl/container/flat_hash_set.h"
#include "runtime/sim/translator.h"

namespace onepass::sim {

// Functions that lie on a circle of calls. A call through a pointer may reach every function whose
// name stands anywhere but in a call.
absl::flat_hash_set<const Function*> RecursiveFunctions(const Syntax& syntax,
                                                        const ModuleNames& names);

}  // namespace onepass::sim
