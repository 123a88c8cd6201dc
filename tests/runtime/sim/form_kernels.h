// The kernels that together use every form of ptx_opcodes.tsv, each with a check of its results.
#pragma once

#include <set>
#include <string>

#include "runtime/sim/gpu.h"

namespace onepass::sim {

// Runs them all, compiled for `arch`, and checks what they compute. Returns the forms that were
// executed.
std::set<std::string> RunFormKernels(const std::string& arch, GpuOptions options);

}  // namespace onepass::sim
