// A loop on all cores.
#pragma once

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace onepass {

// Calls body(i) for every i in [0, count), each once, on as many threads as the machine has cores;
// returns when all are done. Which thread takes which i is not defined: results must not depend on
// it.
void ParallelFor(int64_t count, absl::FunctionRef<void(int64_t)> body);

}  // namespace onepass
