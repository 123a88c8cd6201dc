// The functions of the special-function units, and the exact reciprocal and square root.
#include <cmath>

#include "runtime/sim/approx.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"
#include "runtime/sim/perturb.h"
#include "runtime/sim/rounded.h"

namespace onepass::sim {
namespace {

template <float (*Fn)(float), bool kFlush>
float Wrapped(float a) {
  const float value = Fn(kFlush ? Flush(a) : a);
  return Canonical(kFlush ? Flush(value) : value);
}

float Reciprocal(float a) { return 1.0f / a; }
float Rsqrt(float a) { return 1.0f / std::sqrt(a); }
float Sqrt(float a) { return std::sqrt(a); }
float Sine(float a) { return std::sin(a); }
float Cosine(float a) { return std::cos(a); }

template <float (*Fn)(float), auto kBound>
Pick Approx(Form& form) {
  return form.Take("ftz") ? ApproximateLanes<&Wrapped<Fn, true>, kBound>()
                          : ApproximateLanes<&Wrapped<Fn, false>, kBound>();
}

template <float (*Fn)(float)>
Pick Rounded(Form& form) {
  return form.Take("ftz") ? RoundedLanes<&Wrapped<Fn, true>>(form)
                          : RoundedLanes<&Wrapped<Fn, false>>(form);
}

}  // namespace

std::optional<Pick> PickSpecial(Form& form) {
  const std::string_view base = form.base();
  if (!form.Take("f32")) return std::nullopt;
  const bool approx = form.Take("approx");
  if (base == "rcp")
    return approx ? Approx<Reciprocal, ReciprocalBound>(form) : Rounded<Reciprocal>(form);
  if (base == "sqrt") return approx ? Approx<Sqrt, SqrtBound>(form) : Rounded<Sqrt>(form);
  if (!approx) return std::nullopt;
  if (base == "rsqrt") return Approx<Rsqrt, RsqrtBound>(form);
  if (base == "ex2") return Approx<Exp2Approx, Exp2Bound>(form);
  if (base == "lg2") return Approx<Log2Approx, Log2Bound>(form);
  if (base == "sin") return Approx<Sine, SineBound>(form);
  if (base == "cos") return Approx<Cosine, CosineBound>(form);
  if (base == "tanh") return ApproximateLanes<&Wrapped<TanhApprox, false>, TanhBound>();
  return std::nullopt;
}

}  // namespace onepass::sim
