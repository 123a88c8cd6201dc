// Lane functions under the rounding modes of the host's vector unit.
#pragma once

#include <immintrin.h>

#include "runtime/sim/form.h"
#include "runtime/sim/lanes.h"

namespace onepass::sim {

// Elementwise<Fn> with MXCSR's rounding field set to kMode. The operands come from memory and the
// results go there, so the two barriers keep the arithmetic between them.
template <auto Fn, unsigned kMode>
const Op* WithRounding(const Op& op, Warp& warp) {
  const unsigned before = _mm_getcsr();
  _mm_setcsr((before & ~unsigned{_MM_ROUND_MASK}) | kMode);
  asm volatile("" ::: "memory");
  const Op* next = Elementwise<Fn>::Run(op, warp);
  asm volatile("" ::: "memory");
  _mm_setcsr(before);
  return next;
}

// The pick for Fn under the rounding modifier of the form: .rn, none, .rz, .rm or .rp.
template <auto Fn>
Pick RoundedLanes(Form& form) {
  Pick pick = Lanes<Fn>();
  if (form.Take("rz")) pick.fn = &WithRounding<Fn, _MM_ROUND_TOWARD_ZERO>;
  if (form.Take("rm")) pick.fn = &WithRounding<Fn, _MM_ROUND_DOWN>;
  if (form.Take("rp")) pick.fn = &WithRounding<Fn, _MM_ROUND_UP>;
  form.Take("rn");
  return pick;
}

}  // namespace onepass::sim
