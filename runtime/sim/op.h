// One operation of the simulated GPU's own code: an instruction of PTX, decoded.
#pragma once

#include <cstdint>

namespace onepass::sim {

struct Op;
struct Warp;

// Executes `op` for the lanes in warp.exec and returns the operation to go on with. Null stops the
// warp: the function has then set warp.stop and warp.resume.
using ExecFn = const Op* (*)(const Op& op, Warp& warp);

// An operand is where its row lies: bytes from the warp's registers, or, with the sign bit set,
// from the launch's constants.
using RowRef = int32_t;
inline constexpr RowRef kConstantRow = INT32_MIN;
inline constexpr int kMaxRefs = 9;  // a vector access: the address and eight values

struct alignas(64) Op {
  ExecFn fn = nullptr;
  ExecFn inner = nullptr;   // what a guarded operation executes; fn is then Guarded
  int32_t offset = 0;       // of an address; free for others
  uint32_t flags = 0;       // meaning depends on fn
  RowRef r[kMaxRefs] = {};  // destinations first, then sources, unless fn's family says otherwise
  int32_t guard = -1;       // offset of the guard's mask times 2, plus 1 for "@!p"; -1: none
};
static_assert(sizeof(Op) == 64);

}  // namespace onepass::sim
