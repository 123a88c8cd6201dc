// How floating values become integral.
#pragma once

#include <cmath>
#include <optional>
#include <type_traits>

#include "runtime/sim/form.h"
#include "runtime/sim/half.h"

namespace onepass::sim {

enum class Integral { kNearest, kZero, kDown, kUp };

template <Integral kMode>
double ToIntegral(double a) {
  switch (kMode) {
    case Integral::kNearest:
      return std::rint(a);  // ties to even: the host's default mode
    case Integral::kZero:
      return std::trunc(a);
    case Integral::kDown:
      return std::floor(a);
    case Integral::kUp:
      return std::ceil(a);
  }
  return a;
}

template <class S>
double Widen(S a) {
  if constexpr (std::is_same_v<S, F16> || std::is_same_v<S, Bf16>) {
    return ToFloat(a);
  } else {
    return a;
  }
}

// .rni, .rzi, .rmi or .rpi, where the form has one.
inline std::optional<Integral> TakeIntegral(Form& form) {
  if (form.Take("rni")) return Integral::kNearest;
  if (form.Take("rzi")) return Integral::kZero;
  if (form.Take("rmi")) return Integral::kDown;
  if (form.Take("rpi")) return Integral::kUp;
  return std::nullopt;
}

}  // namespace onepass::sim
