// Good PTX for the mutations to start from, one kernel a text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace onepass::sim {

// Every kernel of the module with all that stands outside of kernels.
std::vector<std::string> KernelsOf(const std::string& ptx);

// tests/cases/sim: compiled kernels of both front ends, and the sections of semantics.txt.
std::vector<std::string> KeptCorpus();

// Compiled by NVRTC now: tests/runtime/sim/kernels, the planted bugs, and what Onepass emits for
// some problems; for sm_80, sm_90 and sm_100. About a minute on one core.
absl::StatusOr<std::vector<std::string>> CompiledCorpus();

}  // namespace onepass::sim
