// The functions of the special-function units, and the exact reciprocal and square root.
#include <cmath>

#include "runtime/sim/approx.h"
#include "runtime/sim/exec.h"
#include "runtime/sim/half.h"
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

template <float (*Fn)(float)>
Pick Flushed(Form& form) {
  return form.Take("ftz") ? Lanes<&Wrapped<Fn, true>>() : Lanes<&Wrapped<Fn, false>>();
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
  if (base == "rcp") return approx ? Flushed<Reciprocal>(form) : Rounded<Reciprocal>(form);
  if (base == "sqrt") return approx ? Flushed<Sqrt>(form) : Rounded<Sqrt>(form);
  if (!approx) return std::nullopt;
  if (base == "rsqrt") return Flushed<Rsqrt>(form);
  if (base == "ex2") return Flushed<Exp2Approx>(form);
  if (base == "lg2") return Flushed<Log2Approx>(form);
  if (base == "sin") return Flushed<Sine>(form);
  if (base == "cos") return Flushed<Cosine>(form);
  if (base == "tanh") return Lanes<&Wrapped<TanhApprox, false>>();
  return std::nullopt;
}

}  // namespace onepass::sim
