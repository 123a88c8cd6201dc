// Where something happened, in words.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/sim/program.h"

namespace onepass::sim {

struct Launch;

// "PTX line 12: ld.global.f32 %f1, [%rd4]"; empty for what no instruction stands for.
std::string LineOf(const Kernel& kernel, const Op& op);
// " at " and LineOf, or nothing.
std::string AtLine(const Kernel& kernel, const Op& op);
// "block (1,0,0) thread (37,0,0)"
std::string ThreadOf(const Launch& launch, uint64_t block, int warp, int lane);
// "(1,0,0)"
std::string BlockName(const Launch& launch, uint64_t block);

}  // namespace onepass::sim
