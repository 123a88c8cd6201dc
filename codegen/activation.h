// The table of activations. A row drives the spelling, the emitted code, the reference's tests and
// the accuracy tests; the row of an activation is the only place that lists it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "codegen/dtype.h"
#include "llvm/ADT/ArrayRef.h"

namespace onepass {

enum class ActivationKind : uint8_t {
  kIdentity,
  kRelu,
  kLeakyRelu,
  kRelu6,
  kClip,
  kElu,
  kCelu,
  kSelu,
  kSigmoid,
  kTanh,
  kSwish,
  kHardswish,
  kHardsigmoid,
  kSoftplus,
  kLogsigmoid,
  kSoftsign,
  kTanhshrink,
  kMish,
  kGeluErf,
  kGeluTanh,
  kExp,
  kLog,
  kSqrt,
  kAbs,
  kSquare,
  kRound,
  kPow,
  kLinear,
  kThreshold,
  kHardshrink,
  kSoftshrink,
  kThresholdedRelu,
};

// An activation with its constants; unused constants are 0.
struct Activation {
  ActivationKind kind = ActivationKind::kIdentity;
  double alpha = 0;
  double beta = 0;
  bool operator==(const Activation&) const = default;
};

struct ActivationRow {
  ActivationKind kind;
  absl::string_view name;
  int parameters;      // how many constants it takes, 0 to 2
  int required;        // how many of them have no default
  double alpha, beta;  // defaults
  // The name of the struct in templates/activation.cuh that computes it; empty: no kernel yet,
  // refused with kUnimplemented.
  absl::string_view cuda;
  // Largest error against the exact value rounded once, in ulp of the output type, over the whole
  // range (every f16 and bf16 value, a dense f32 sweep, f64 samples), wherever in the PTX ISA's
  // bounds approximate instructions err.
  double ulp_f32, ulp_half, ulp_f64;
};

// All rows, in enum order.
llvm::ArrayRef<ActivationRow> Activations();
const ActivationRow& RowOf(ActivationKind kind);
// Also knows "silu" for swish.
const ActivationRow* FindActivation(absl::string_view name);

// "leaky_relu:0.2"; constants equal to their defaults are omitted.
std::string ToString(const Activation& act);
// Largest error in ulp of `dtype`.
double UlpBound(const Activation& act, DType dtype);

}  // namespace onepass
