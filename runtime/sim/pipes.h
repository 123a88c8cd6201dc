// What a PTX instruction costs a chip: the SASS instructions that it becomes, by pipe.
//
// One row a form, in hundredths of a slot: an average over kernels, since ptxas joins, moves and
// drops instructions. A test holds the sum over a kernel to its machine code.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/sim/machine.h"
#include "runtime/sim/program.h"

namespace onepass::sim {

enum class Pipe : uint8_t { kIssue, kAlu, kFma, kFp64, kSpecial, kLsu };
inline constexpr int kPipes = 6;

// Hundredths of a warp's slots.
struct Slots {
  int32_t on[kPipes] = {};  // kIssue: all that is issued
  int32_t cold = 0;         // in the text, and executed for rare values only

  int32_t text() const { return on[static_cast<int>(Pipe::kIssue)] + cold; }
};

// Of a form such as "fma.rn.f32", for compute capability `arch` / 10.
Slots SlotsOf(std::string_view form, int arch);
// By operation of the kernel; an instruction that became several has them at the first.
std::vector<Slots> SlotsOf(const Kernel& kernel, int arch);
// "fma.rn.f32" of an instruction's text with its guard and operands.
std::string_view FormOf(std::string_view text);

// Lanes of a pipe that an SM advances in a clock.
int LanesOf(const Machine& machine, Pipe pipe);

}  // namespace onepass::sim
