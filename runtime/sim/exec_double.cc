// Arithmetic of f64. NaN payloads pass, as they do on the hardware; a fresh NaN is x86's too.
#include <cmath>

#include "runtime/sim/exec.h"
#include "runtime/sim/rounded.h"

namespace onepass::sim {
namespace {

double Add(double a, double b) { return a + b; }
double Sub(double a, double b) { return a - b; }
double Mul(double a, double b) { return a * b; }
double Div(double a, double b) { return a / b; }
double Fma(double a, double b, double c) { return std::fma(a, b, c); }
double Neg(double a) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(a) ^ uint64_t{1} << 63);
}
double Abs(double a) { return std::fabs(a); }
double CopySign(double a, double b) { return std::copysign(b, a); }
double Sqrt(double a) { return std::sqrt(a); }
double Reciprocal(double a) { return 1.0 / a; }

template <bool kMax>
double Extreme(double a, double b) {
  if (a != a || b != b) {
    const bool both = a != a && b != b;
    return both ? std::bit_cast<double>(uint64_t{0x7fffffffffffffff}) : (a != a ? b : a);
  }
  const uint64_t x = std::bit_cast<uint64_t>(a);
  const uint64_t y = std::bit_cast<uint64_t>(b);
  if (a == b) return std::bit_cast<double>(kMax ? x & y : x | y);
  return (a < b) == kMax ? b : a;
}

bool IsFinite(double a) { return std::isfinite(a); }
bool IsInfinite(double a) { return std::isinf(a); }
bool IsNumber(double a) { return !std::isnan(a); }
bool IsNotANumber(double a) { return std::isnan(a); }

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 look at the upper 32 bits only and return a value
// whose lower 32 bits are zero.
double UpperOf(double a) {
  const uint64_t bits = std::bit_cast<uint64_t>(a) & 0xffffffff00000000u;
  const bool subnormal = (bits & 0x7ff0000000000000u) == 0;
  return std::bit_cast<double>(subnormal ? bits & 0x8000000000000000u : bits);
}
double UpperResult(double value) {
  if (value != value) return std::bit_cast<double>(uint64_t{0x7fffffff00000000});
  return UpperOf(value);
}
double ReciprocalApprox(double a) { return UpperResult(1.0 / UpperOf(a)); }
double RsqrtApproxFlushed(double a) { return UpperResult(1.0 / std::sqrt(UpperOf(a))); }
double RsqrtApprox(double a) { return 1.0 / std::sqrt(a); }

}  // namespace

std::optional<Pick> PickFloat64(Form& form) {
  const std::string_view base = form.base();
  if (!form.Take("f64")) return std::nullopt;
  if (base == "add") return RoundedLanes<&Add>(form);
  if (base == "sub") return RoundedLanes<&Sub>(form);
  if (base == "mul") return RoundedLanes<&Mul>(form);
  if (base == "fma" || base == "mad") return RoundedLanes<&Fma>(form);
  if (base == "div") return RoundedLanes<&Div>(form);
  if (base == "sqrt") return RoundedLanes<&Sqrt>(form);
  if (base == "neg") return Lanes<&Neg>();
  if (base == "abs") return Lanes<&Abs>();
  if (base == "copysign") return Lanes<&CopySign>();
  if (base == "min") return Lanes<&Extreme<false>>();
  if (base == "max") return Lanes<&Extreme<true>>();
  if (base == "rcp") {
    if (!form.Take("approx")) return RoundedLanes<&Reciprocal>(form);
    if (form.Take("ftz")) return Lanes<&ReciprocalApprox>();
  }
  if (base == "rsqrt" && form.Take("approx")) {
    return form.Take("ftz") ? Lanes<&RsqrtApproxFlushed>() : Lanes<&RsqrtApprox>();
  }
  if (base == "testp") {
    if (form.Take("finite")) return Lanes<&IsFinite>();
    if (form.Take("infinite")) return Lanes<&IsInfinite>();
    if (form.Take("number")) return Lanes<&IsNumber>();
    if (form.Take("notanumber")) return Lanes<&IsNotANumber>();
  }
  return std::nullopt;
}

}  // namespace onepass::sim
