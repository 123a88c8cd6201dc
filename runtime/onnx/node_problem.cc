#include "runtime/onnx/node_problem.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "onnx/onnx_pb.h"
#include "runtime/onnx/attributes.h"

namespace onepass::model {
namespace {

constexpr size_t kMostAxes = 5;
constexpr int kTrainingModeSince = 14;

// A shape of any rank as one that problems have: trailing axes merged beyond five, one axis for a
// scalar.
Dims MergedDims(const Shape& shape) {
  Dims dims(shape.begin(), shape.begin() + std::min(shape.size(), kMostAxes));
  for (size_t axis = kMostAxes; axis < shape.size(); ++axis) dims.back() *= shape[axis];
  if (dims.empty()) dims.push_back(1);
  return dims;
}

// Statistics a channel; with spatial=0 (up to opset 8) each place of a sample is a channel of its
// own.
Dims BatchNormDims(const Shape& shape, bool spatial) {
  Dims dims = MergedDims(shape);
  if (dims.size() == 1) return {dims[0], 1};
  if (!spatial) return {dims[0], dims[0] == 0 ? 0 : ElementsOf(shape) / dims[0]};
  return dims;
}

bool IsTraining(const onnx::NodeProto& node, int opset) {
  if (opset >= kTrainingModeSince) return IntAttribute(node, "training_mode", 0) != 0;
  int outputs = 0;
  for (const std::string& name : node.output()) outputs += name.empty() ? 0 : 1;
  return IntAttribute(node, "is_test", 0) == 0 && outputs > 1;
}

absl::StatusOr<TensorType> RequiredType(const onnx::NodeProto& node, const NodeInputs& inputs,
                                        int position) {
  if (position < node.input_size()) return inputs.type(position);
  return absl::InvalidArgumentError(
      absl::StrCat(node.op_type(), " with ", node.input_size(), " inputs has no input ", position));
}

// What a running average keeps of a new value, rounded to what an f32 attribute can tell.
double NewWeight(double old_weight) {
  return ShortestDecimal(static_cast<float>(1.0 - old_weight));
}

absl::StatusOr<NodeProblem> BatchNorm(const onnx::NodeProto& node, int opset,
                                      const NodeInputs& inputs) {
  static constexpr std::pair<Role, Role> kParameters[] = {{Role::kScale, Role::kScale},
                                                          {Role::kBias, Role::kBias},
                                                          {Role::kMean, Role::kRunningMean},
                                                          {Role::kVar, Role::kRunningVar}};
  const bool training = IsTraining(node, opset);
  const auto x = RequiredType(node, inputs, 0);
  if (!x.ok()) return x.status();
  NodeProblem result;
  Problem& problem = result.problem;
  problem.op = training ? Op::kBatchNormTrain : Op::kBatchNormInfer;
  problem.dtype = x->dtype;
  problem.dims = BatchNormDims(x->shape, IntAttribute(node, "spatial", 1) != 0);
  problem.eps = FloatAttribute(node, "epsilon", 1e-5);
  if (training) {
    problem.momentum = NewWeight(FloatAttribute(node, "momentum", 0.9));
    problem.running_var = RunningVar::kBiased;
  }
  result.inputs.push_back({0, Role::kX, x->shape});
  result.outputs.push_back({0, Role::kY, x->shape});
  for (int i = 0; i < 4; ++i) {
    const auto type = RequiredType(node, inputs, i + 1);
    if (!type.ok()) return type.status();
    if (i == 0) problem.param = type->dtype;
    if (type->dtype != problem.param) {
      return absl::UnimplementedError(
          "BatchNormalization with parameters of several types is not supported");
    }
    result.inputs.push_back(
        {i + 1, training ? kParameters[i].second : kParameters[i].first, type->shape});
  }
  if (!training) return result;
  if (node.output_size() > 3)
    return absl::UnimplementedError(
        "BatchNormalization's saved_mean and saved_var are not supported");
  result.outputs.push_back({1, Role::kRunningMeanOut, result.inputs[3].shape});
  result.outputs.push_back({2, Role::kRunningVarOut, result.inputs[4].shape});
  return result;
}

absl::StatusOr<NodeProblem> Pointwise(const onnx::NodeProto& node, int opset,
                                      const NodeInputs& inputs) {
  const auto act = ActivationOfNode(node, opset, inputs);
  if (!act.ok()) return act.status();
  const auto x = RequiredType(node, inputs, 0);
  if (!x.ok()) return x.status();
  NodeProblem result;
  result.problem.op = Op::kPointwiseFwd;
  result.problem.dtype = x->dtype;
  result.problem.param = x->dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  result.problem.dims = MergedDims(x->shape);
  result.problem.act = *act;
  result.inputs.push_back({0, Role::kX, x->shape});
  result.outputs.push_back({0, Role::kY, x->shape});
  return result;
}

}  // namespace

absl::StatusOr<NodeProblem> ProblemOfNode(const onnx::NodeProto& node, int opset,
                                          const NodeInputs& inputs) {
  if (!node.domain().empty() && node.domain() != "ai.onnx") {
    return absl::UnimplementedError(
        absl::StrCat("operator ", node.domain(), ".", node.op_type(), " is not supported"));
  }
  return node.op_type() == "BatchNormalization" ? BatchNorm(node, opset, inputs)
                                                : Pointwise(node, opset, inputs);
}

}  // namespace onepass::model
