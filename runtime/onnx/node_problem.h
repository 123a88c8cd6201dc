// A node of a model as a problem.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/problem.h"
#include "codegen/roles.h"
#include "runtime/onnx/tensor.h"

namespace onnx {
class NodeProto;
}

namespace onepass::model {

// What is known of a node's inputs by position.
struct NodeInputs {
  std::function<absl::StatusOr<TensorType>(int)> type;  // an error says why it is not known
  std::function<const Tensor*(int)> value;  // null where only the type is known, or nothing
};

// One of a node's inputs or outputs.
struct Binding {
  int position = 0;
  Role role = Role::kX;
  Shape shape;  // in the model; the problem's own dims have as many elements
};

struct NodeProblem {
  Problem problem;
  std::vector<Binding> inputs;
  std::vector<Binding> outputs;
};

// kUnimplemented says what is not supported: the operator, a type, an attribute. kInvalidArgument:
// the node contradicts itself. The problem has yet to pass Validate.
//
// Semantics that differ from ours: ONNX's momentum is the weight of the old value and its running
// variance is the biased one.
absl::StatusOr<NodeProblem> ProblemOfNode(const onnx::NodeProto& node, int opset,
                                          const NodeInputs& inputs);

// The activation of a node that is one; used by ProblemOfNode.
absl::StatusOr<Activation> ActivationOfNode(const onnx::NodeProto& node, int opset,
                                            const NodeInputs& inputs);

}  // namespace onepass::model
