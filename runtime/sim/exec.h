// The families of instructions: each chooses what executes a form, or says that it does not know
// it.
//
// A selector takes from the Form what it understands. The caller refuses forms with modifiers left.
#pragma once

#include <bit>
#include <optional>
#include <string_view>

#include "runtime/sim/block.h"
#include "runtime/sim/form.h"
#include "runtime/sim/lanes.h"
#include "runtime/sim/pick.h"
#include "runtime/sim/warp.h"

namespace onepass::sim {

// Executes op.inner for the lanes that the guard lets through.
const Op* Guarded(const Op& op, Warp& warp);

ExecFn JumpFn();               // to &op + op.offset
ExecFn PseudoJumpFn();         // likewise, but no instruction
ExecFn JoinFn();               // where paths may meet; no instruction
ExecFn BranchFn(bool negate);  // r[0]: the predicate
ExecFn ExitFn();

// Simple forms: destinations and sources as the pick's types say.
std::optional<Pick> PickControl(Form& form);  // trap, fences, nanosleep
// Arithmetic of f32; `operands` counts the destination too.
std::optional<Pick> PickFloat32(Form& form, int operands);
std::optional<Pick> PickFloat64(Form& form);   // arithmetic of f64
std::optional<Pick> PickHalf(Form& form);      // arithmetic of f16, bf16 and their pairs
std::optional<Pick> PickSpecial(Form& form);   // ex2, lg2, sin, cos, tanh, rcp, rsqrt, sqrt
std::optional<Pick> PickInteger(Form& form);   // arithmetic, minimum, maximum, division
std::optional<Pick> PickBits(Form& form);      // logic, shifts, counting, permuting
std::optional<Pick> PickCarry(Form& form);     // add.cc, addc and their kin
std::optional<Pick> PickVideo(Form& form);     // vadd, vshr and their kin, for whole registers
std::optional<Pick> PickRareBits(Form& form);  // dp2a, bmsk, szext, fns, the modes of prmt
std::optional<Pick> PickClusterAddress(Form& form);                 // mapa, getctarank
std::optional<Pick> PickSpaceTest(Form& form);                      // isspacep
std::optional<Pick> PickPolicy(Form& form, int operands);           // createpolicy
std::optional<Pick> PickConvert(Form& form);                        // cvt, one source
std::optional<Pick> PickToInteger(Form& form, Type to, Type from);  // cvt to integers
std::optional<Pick> PickPack(Form& form);                           // cvt, two sources

// Forms with operands of their own. The layout of r[] stands with each.

// setp: r[0] p, r[1] a, r[2] b, r[3] q, r[4] c. set: r[0] d, r[1] a, r[2] b.
struct Comparison {
  bool has_second = false;   // q
  bool has_combine = false;  // c
  bool combine_negated = false;
};
std::optional<Pick> PickCompare(Form& form, const Comparison& comparison);
// bar and barrier: r[0] result, r[1] barrier, r[2] threads, r[3] predicate. `operands` counts those
// behind the result.
std::optional<Pick> PickBarrier(Form& form, int operands, bool negated);
// shfl.sync: r[0] d, r[1] p, r[2] a, r[3] b, r[4] c, r[5] mask.
std::optional<Pick> PickShuffle(Form& form, bool has_predicate);
// vote, match, redux, activemask, elect, bar.warp: to and from as the pick says; `negated`: of the
// source predicate; `has_second`: "d|p" was written.
std::optional<Pick> PickCollective(Form& form, bool negated, bool has_second);
// ld and st: r[0] address, r[1...] values.
struct Access {
  int vector = 1;
  RowClass row = RowClass::k32;  // of the values
  bool address32 = false;
  Space space = Space::kGeneric;
  Type type = Type::kB32;
};
std::optional<Pick> PickAccess(Form& form, bool store, Access& access);
std::optional<Pick> PickPrefetch(Form& form);  // r[0] address
// atom and red: r[0] result (of atom), r[1] address, r[2] b, r[3] c.
std::optional<Pick> PickAtomic(Form& form, bool has_result, bool address32);
// Operations with addresses that become generic ones; `spaces` are those of the addresses, in
// order. `has_state`: mbarrier.arrive has a register for its result; `predicate`: the last operand
// of cp.async is one.
struct AsyncPick {
  Pick pick;
  llvm::SmallVector<Space, 3> spaces = {};
};
std::optional<AsyncPick> PickMbarrier(Form& form, int operands, bool has_state);
std::optional<AsyncPick> PickAsyncCopy(Form& form, int operands, bool predicate);  // cp
std::optional<AsyncPick> PickAsyncStore(Form& form);  // st.async, red.async
std::optional<Pick> PickClusterBarrier(Form& form);   // barrier.cluster
// ldmatrix, stmatrix: r[0] address, then a register for each of `count` matrices.
std::optional<Pick> PickMoveMatrices(Form& form, bool store, int& count);
// mma: the refs of D, A, B and C, as many as stated (C as many as D).
struct MatrixPick {
  ExecFn fn = nullptr;
  int d = 0;
  int a = 0;
  int b = 0;
  uint32_t flags = 0;
};
std::optional<MatrixPick> PickMultiplyMatrices(Form& form);
Pick CallPick();        // the jump of a call, whose body may follow at once
Pick PrintPick();       // vprintf: r[0] result, r[1] format, r[2] arguments
Pick AssertPick();      // __assertfail: r[0] message, r[1] file, r[2] line, r[3] function
Pick NoFunctionPick();  // a fault: a pointer to no function
// mov of a special register; its value does not depend on the launch alone.
std::optional<Pick> PickSpecialRegister(std::string_view name, Type type);
// Packing moves: "mov.b64 %rd, {%r1, %r2}" and back. Parts first or last, low to high.
std::optional<Pick> PickMovePack(Type whole, int parts);
std::optional<Pick> PickMoveUnpack(Type whole, int parts);
ExecFn MoveFn(RowClass row);  // r[0] = r[1]

}  // namespace onepass::sim
