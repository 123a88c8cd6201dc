// Where something happened, in words.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/sim/program.h"

namespace onepass::sim {

struct Block;
struct Launch;

// "PTX line 12: ld.global.f32 %f1, [%rd4] (norm.cu:31)"; empty for what no instruction stands for.
std::string LineOf(const Kernel& kernel, const Op& op);
// " at " and LineOf, or nothing.
std::string AtLine(const Kernel& kernel, const Op& op);
// "block (1,0,0) thread (37,0,0)"
std::string ThreadOf(const Launch& launch, uint64_t block, int warp, int lane);
// "(1,0,0)"
std::string BlockName(const Launch& launch, uint64_t block);
// A name as C++ has it, where PTX has it mangled.
std::string Demangled(const std::string& name);
// "shared memory tile[3] (byte 12 of 256)": the variable that the byte is of or behind. PTX mostly
// declares bytes, so the index counts elements of `element_bytes` there.
// Bytes count in the layout without the gaps of a checked launch.
std::string SharedPlace(const Launch& launch, int64_t offset, int element_bytes);
// The same for any shared::cluster address of `block`, with the block that owns it where that is
// another one; "rank 2 of a cluster of 2" where none does.
std::string SharedAddress(const Block& block, uint64_t address, int element_bytes);

}  // namespace onepass::sim
