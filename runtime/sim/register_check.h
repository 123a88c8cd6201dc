// Follows registers that hold nothing: never written, read from memory that nobody wrote, shuffled
// from a lane that took no part.
//
// An undefined value may be moved and computed with; the results are undefined too, unless the
// other sources of a logical operation decide (decided.h). It is reported
// where something depends on it: an address, a branch or guard, an atomic, a value stored in global
// memory. A warp is followed from its first undefined value on; most never are.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/sim/program.h"
#include "runtime/sim/warp.h"

namespace onepass::sim {

class Checker;

class RegisterCheck {
 public:
  void Start(const Kernel& kernel);

  // Whether Before has to see every operation.
  bool following() const { return following_; }
  // Of an operation that the warp is about to execute: at least those with a mask.
  void Before(Checker& checker, const Op& op, Warp& warp);

  // A load has brought what nobody wrote; `origin` is the checker's word for it.
  void SetUndefined(RowRef ref, uint32_t lanes, uint32_t origin);
  // Lanes of a .sync operation that stood at several places have got a result.
  void SetDefined(RowRef ref, uint32_t lanes) { At(ref).undefined &= ~lanes; }
  uint32_t UndefinedLanes(RowRef ref) const {
    return ref < 0 ? 0 : registers_[IndexOf(ref)].undefined;
  }

 private:
  struct Register {
    uint32_t undefined = 0;  // lanes
    uint32_t origin = 0;     // of the value that made it so; 0: none was a load
  };

  size_t IndexOf(RowRef ref) const {
    return ref < mask_begin_ ? ref / 128 : mask_begin_ / 128 + (ref - mask_begin_) / 4;
  }
  Register& At(RowRef ref) { return registers_[IndexOf(ref)]; }
  uint32_t LanesOf(const Op& op, const Warp& warp) const;
  void CheckUses(Checker& checker, const Op& op, const OpUse& use, Warp& warp, uint32_t lanes);
  void CheckMask(Checker& checker, const Op& op, const OpUse& use, Warp& warp, uint32_t lanes);
  Register Combined(const Op& op, const OpUse& use, const Warp& warp, uint32_t lanes) const;
  void Spread(const Op& op, const OpUse& use, const Warp& warp, uint32_t lanes);
  void Shuffle(const Op& op, const OpUse& use, Warp& warp, uint32_t lanes);
  void Write(RowRef ref, uint32_t lanes, const Register& value);

  bool following_ = false;
  int64_t mask_begin_ = 0;
  std::vector<Register> registers_;
};

}  // namespace onepass::sim
