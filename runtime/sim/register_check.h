// Follows registers that hold nothing: never written, or shuffled from a lane that took no part.
//
// An undefined value may be moved and computed with; the results are undefined too. It is reported
// where something depends on it: an address, a branch or guard, a value stored in global memory.
// A warp is followed from the first undefined value on; most never are.
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

 private:
  uint32_t& Undefined(RowRef ref) {
    return undefined_[ref < mask_begin_ ? ref / 128
                                        : (mask_begin_ / 128) + (ref - mask_begin_) / 4];
  }
  uint32_t LanesOf(const Op& op, const Warp& warp) const;
  void CheckUses(Checker& checker, const Op& op, const OpUse& use, Warp& warp, uint32_t lanes);
  void CheckMask(Checker& checker, const Op& op, const OpUse& use, Warp& warp, uint32_t lanes);
  void Spread(const Op& op, const OpUse& use, const Warp& warp, uint32_t lanes);
  void Shuffle(const Op& op, Warp& warp, uint32_t lanes);

  bool following_ = false;
  int64_t mask_begin_ = 0;
  std::vector<uint32_t> undefined_;  // lanes, by register
};

}  // namespace onepass::sim
