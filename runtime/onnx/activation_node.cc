#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "codegen/activation.h"
#include "onnx/onnx_pb.h"
#include "runtime/onnx/attributes.h"
#include "runtime/onnx/node_problem.h"

namespace onepass::model {
namespace {

struct ActivationNode {
  absl::string_view op;
  ActivationKind kind;
  // Names and ONNX's defaults of the attributes that give our constants; "" keeps our own default.
  absl::string_view alpha;
  double alpha_default;
  absl::string_view beta;
  double beta_default;
};

using Kind = ActivationKind;

constexpr ActivationNode kNodes[] = {
    {"Abs", Kind::kAbs, "", 0, "", 0},
    {"Celu", Kind::kCelu, "alpha", 1, "", 0},
    {"Elu", Kind::kElu, "alpha", 1, "", 0},
    {"Exp", Kind::kExp, "", 0, "", 0},
    {"HardSigmoid", Kind::kHardsigmoid, "alpha", 0.2, "beta", 0.5},
    {"HardSwish", Kind::kHardswish, "", 0, "", 0},
    {"Identity", Kind::kIdentity, "", 0, "", 0},
    {"LeakyRelu", Kind::kLeakyRelu, "alpha", 0.01, "", 0},
    {"Log", Kind::kLog, "", 0, "", 0},
    {"Mish", Kind::kMish, "", 0, "", 0},
    {"Relu", Kind::kRelu, "", 0, "", 0},
    {"Sigmoid", Kind::kSigmoid, "", 0, "", 0},
    {"Softplus", Kind::kSoftplus, "", 0, "", 0},
    {"Softsign", Kind::kSoftsign, "", 0, "", 0},
    {"Sqrt", Kind::kSqrt, "", 0, "", 0},
    {"Swish", Kind::kSwish, "alpha", 1, "", 0},
    {"Tanh", Kind::kTanh, "", 0, "", 0},
    {"ThresholdedRelu", Kind::kThresholdedRelu, "alpha", 1, "", 0},
};

absl::StatusOr<Activation> Gelu(const onnx::NodeProto& node) {
  const std::string approximate = StringAttribute(node, "approximate", "none");
  if (approximate == "none") return Activation{Kind::kGeluErf};
  if (approximate == "tanh") return Activation{Kind::kGeluTanh};
  return absl::InvalidArgumentError(
      absl::StrCat("Gelu: approximate='", approximate, "' is neither none nor tanh"));
}

// A bound of Clip: an attribute up to opset 10, an input since; none where it is left out.
absl::StatusOr<std::optional<double>> ClipBound(const onnx::NodeProto& node, int opset,
                                                const NodeInputs& inputs, absl::string_view name,
                                                int position) {
  if (opset < 11) {
    return HasAttribute(node, name) ? std::optional(FloatAttribute(node, name, 0)) : std::nullopt;
  }
  if (position >= node.input_size() || node.input(position).empty()) return std::optional<double>();
  const Tensor* bound = inputs.value(position);
  if (bound == nullptr || ElementsOf(bound->type.shape) != 1) {
    return absl::UnimplementedError(absl::StrCat("Clip: the value of ", name, " is not known"));
  }
  return std::optional(ValueAt(*bound, 0));
}

absl::StatusOr<Activation> Clip(const onnx::NodeProto& node, int opset, const NodeInputs& inputs) {
  const auto low = ClipBound(node, opset, inputs, "min", 1);
  if (!low.ok()) return low.status();
  const auto high = ClipBound(node, opset, inputs, "max", 2);
  if (!high.ok()) return high.status();
  if (*low == 0.0 && *high == 6.0) return Activation{Kind::kRelu6};
  if (!low->has_value() && !high->has_value()) return Activation{Kind::kIdentity};
  if (!low->has_value() || !high->has_value())
    return absl::UnimplementedError("Clip with one bound is not supported");
  return Activation{Kind::kClip, **low, **high};
}

// Our selu has fixed constants, those that ONNX has as defaults.
absl::StatusOr<Activation> Selu(const onnx::NodeProto& node) {
  if (HasAttribute(node, "alpha") || HasAttribute(node, "gamma")) {
    return absl::UnimplementedError("Selu with its own alpha or gamma is not supported");
  }
  return Activation{Kind::kSelu};
}

}  // namespace

absl::StatusOr<Activation> ActivationOfNode(const onnx::NodeProto& node, int opset,
                                            const NodeInputs& inputs) {
  if (node.op_type() == "Clip") return Clip(node, opset, inputs);
  if (node.op_type() == "Gelu") return Gelu(node);
  if (node.op_type() == "Selu") return Selu(node);
  const auto found = std::find_if(
      std::begin(kNodes), std::end(kNodes),
      [&](const ActivationNode& row) { return std::string(row.op) == node.op_type(); });
  if (found == std::end(kNodes)) {
    return absl::UnimplementedError(absl::StrCat("operator ", node.op_type(), " is not supported"));
  }
  const ActivationRow& row = RowOf(found->kind);
  Activation act{found->kind, row.alpha, row.beta};
  if (!found->alpha.empty()) act.alpha = FloatAttribute(node, found->alpha, found->alpha_default);
  if (!found->beta.empty()) act.beta = FloatAttribute(node, found->beta, found->beta_default);
  return act;
}

}  // namespace onepass::model
