#include "codegen/activation.h"

#include "absl/strings/str_cat.h"
#include "codegen/number_text.h"

namespace onepass {

namespace {

using Kind = ActivationKind;

constexpr ActivationRow kRows[] = {
    // kind, name, parameters, required, alpha, beta, cuda, ulp f32, half, f64
    {Kind::kIdentity, "identity", 0, 0, 0, 0, "Identity", 0, 0, 0},
    {Kind::kRelu, "relu", 0, 0, 0, 0, "Relu", 0, 0, 0},
    {Kind::kLeakyRelu, "leaky_relu", 1, 0, 0.01, 0, "LeakyRelu", 1, 1, 1},
    {Kind::kRelu6, "relu6", 0, 0, 0, 0, "Relu6", 0, 0, 0},
    {Kind::kClip, "clip", 2, 2, 0, 0, "", 1, 1, 1},
    {Kind::kElu, "elu", 1, 0, 1, 0, "Elu", 2, 1, 2},
    {Kind::kCelu, "celu", 1, 0, 1, 0, "", 4, 1, 4},
    {Kind::kSelu, "selu", 0, 0, 0, 0, "", 4, 1, 4},
    {Kind::kSigmoid, "sigmoid", 0, 0, 0, 0, "Sigmoid", 6, 1, 2},
    {Kind::kTanh, "tanh", 0, 0, 0, 0, "Tanh", 3, 1, 2},
    {Kind::kSwish, "swish", 1, 0, 1, 0, "Swish", 7, 1, 3},
    {Kind::kHardswish, "hardswish", 0, 0, 0, 0, "Hardswish", 2, 1, 2},
    {Kind::kHardsigmoid, "hardsigmoid", 2, 0, 1.0 / 6, 1.0 / 2, "", 4, 1, 4},
    {Kind::kSoftplus, "softplus", 2, 0, 1, 20, "Softplus", 7, 1, 2},
    {Kind::kLogsigmoid, "logsigmoid", 0, 0, 0, 0, "", 4, 1, 4},
    {Kind::kSoftsign, "softsign", 0, 0, 0, 0, "", 4, 1, 4},
    {Kind::kTanhshrink, "tanhshrink", 0, 0, 0, 0, "", 4, 1, 4},
    {Kind::kMish, "mish", 0, 0, 0, 0, "", 4, 1, 4},
    {Kind::kGeluErf, "gelu_erf", 0, 0, 0, 0, "GeluErf", 7, 1, 4},
    {Kind::kGeluTanh, "gelu_tanh", 0, 0, 0, 0, "GeluTanh", 7, 1, 3},
    {Kind::kExp, "exp", 0, 0, 0, 0, "", 4, 1, 4},
    {Kind::kLog, "log", 0, 0, 0, 0, "", 4, 1, 4},
    {Kind::kSqrt, "sqrt", 0, 0, 0, 0, "", 1, 1, 1},
    {Kind::kAbs, "abs", 0, 0, 0, 0, "", 0, 0, 0},
    {Kind::kSquare, "square", 0, 0, 0, 0, "", 1, 1, 1},
    {Kind::kRound, "round", 0, 0, 0, 0, "", 0, 0, 0},
    {Kind::kPow, "pow", 2, 2, 0, 0, "", 4, 1, 4},
    {Kind::kLinear, "linear", 2, 2, 0, 0, "", 1, 1, 1},
    {Kind::kThreshold, "threshold", 2, 2, 0, 0, "", 1, 1, 1},
    {Kind::kHardshrink, "hardshrink", 1, 0, 0.5, 0, "", 0, 0, 0},
    {Kind::kSoftshrink, "softshrink", 1, 0, 0.5, 0, "", 1, 1, 1},
    {Kind::kThresholdedRelu, "thresholded_relu", 1, 0, 1, 0, "", 0, 0, 0},
};

constexpr bool RowsAreInEnumOrder() {
  int next = 0;
  for (const ActivationRow& row : kRows) {
    if (static_cast<int>(row.kind) != next++) return false;
  }
  return true;
}
static_assert(RowsAreInEnumOrder());

}  // namespace

llvm::ArrayRef<ActivationRow> Activations() { return kRows; }

const ActivationRow& RowOf(ActivationKind kind) { return kRows[static_cast<int>(kind)]; }

const ActivationRow* FindActivation(absl::string_view name) {
  if (name == "silu") name = "swish";
  for (const ActivationRow& row : kRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

std::string ToString(const Activation& act) {
  const ActivationRow& row = RowOf(act.kind);
  const double constants[] = {act.alpha, act.beta};
  const double defaults[] = {row.alpha, row.beta};
  int printed = row.parameters;
  while (printed > row.required && constants[printed - 1] == defaults[printed - 1]) --printed;
  std::string text(row.name);
  for (int i = 0; i < printed; ++i) absl::StrAppend(&text, ":", PrintNumber(constants[i]));
  return text;
}

double UlpBound(const Activation& act, DType dtype) {
  const ActivationRow& row = RowOf(act.kind);
  if (dtype == DType::kF64) return row.ulp_f64;
  return dtype == DType::kF32 ? row.ulp_f32 : row.ulp_half;
}

}  // namespace onepass
