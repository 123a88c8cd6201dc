#include "runtime/onnx/graph_run.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/validate.h"
#include "onnx/onnx_pb.h"
#include "runtime/exit_code.h"
#include "runtime/onnx/model.h"
#include "runtime/onnx/node_problem.h"

namespace onepass::model {
namespace {

// The type that a graph declares for a value; kUnimplemented where it is no tensor of ours.
absl::StatusOr<TensorType> DeclaredType(const onnx::ValueInfoProto& value) {
  if (!value.type().has_tensor_type()) {
    return absl::UnimplementedError(absl::StrCat("'", value.name(), "' is no tensor"));
  }
  const auto dtype = DTypeOf(value.type().tensor_type().elem_type());
  if (!dtype.ok()) return dtype.status();
  TensorType type{.dtype = *dtype};
  for (const auto& size : value.type().tensor_type().shape().dim()) {
    type.shape.push_back(size.has_dim_value() ? std::max<int64_t>(0, size.dim_value()) : 1);
  }
  return type;
}

class GraphRun {
 public:
  GraphRun(Session& session, const onnx::ModelProto& model, const CaseOptions& options)
      : session_(session), graph_(model.graph()), opset_(OpsetOf(model)), options_(options) {}

  GraphReport Run(const Tensors& given) {
    report_.values = given;
    for (const onnx::TensorProto& initializer : graph_.initializer()) {
      auto tensor = TensorOf(initializer);
      if (tensor.ok()) report_.values.emplace(initializer.name(), *std::move(tensor));
    }
    for (const onnx::ValueInfoProto& input : graph_.input()) {
      declared_.emplace(input.name(), DeclaredType(input));
    }
    for (const onnx::NodeProto& node : graph_.node()) report_.nodes.push_back(RunNode(node));
    return std::move(report_);
  }

 private:
  NodeReport RunNode(const onnx::NodeProto& node) {
    NodeReport report{.name = node.name(), .op_type = node.op_type()};
    if (report.name.empty() && node.output_size() > 0) report.name = node.output(0);
    report.outputs.assign(node.output().begin(), node.output().end());
    const absl::Status status = TryNode(node, report);
    if (absl::IsInvalidArgument(status)) {
      report.run = FailedReport(node.op_type(), status);
    } else if (!status.ok()) {
      report.skipped = std::string(status.message());
    }
    return report;
  }

  // An error is why the node did not run.
  absl::Status TryNode(const onnx::NodeProto& node, NodeReport& report) {
    auto mapped = ProblemOfNode(node, opset_, InputsOf(node));
    if (!mapped.ok()) return mapped.status();
    const Problem& problem = mapped->problem;
    if (absl::Status s = Validate(problem); !s.ok()) return s;
    auto inputs = GivenInputs(node, *mapped);
    if (!inputs.ok()) return inputs.status();
    CaseResult result = RunCase(session_, problem, options_, *std::move(inputs));
    if (result.report.exit == kExitUnsupported)
      return absl::UnimplementedError(*result.report.error);
    Keep(node.input(), mapped->inputs, result.inputs);
    Keep(node.output(), mapped->outputs, result.outputs);
    report.run = std::move(result.report);
    return absl::OkStatus();
  }

  NodeInputs InputsOf(const onnx::NodeProto& node) const {
    return {.type = [this, &node](int i) { return TypeOf(node.input(i)); },
            .value = [this, &node](int i) { return Find(node.input(i)); }};
  }

  const Tensor* Find(const std::string& name) const {
    const auto found = report_.values.find(name);
    return found == report_.values.end() ? nullptr : &found->second;
  }

  absl::StatusOr<TensorType> TypeOf(const std::string& name) const {
    if (const Tensor* tensor = Find(name)) return tensor->type;
    if (const auto found = declared_.find(name); found != declared_.end()) return found->second;
    return absl::UnimplementedError(
        absl::StrCat("its input '", name, "' comes from a node that did not run"));
  }

  absl::StatusOr<std::vector<HostTensor>> GivenInputs(const onnx::NodeProto& node,
                                                      const NodeProblem& mapped) const {
    std::vector<HostTensor> inputs;
    for (const TensorSpec& spec : TensorsOf(mapped.problem)) {
      for (const Binding& binding : mapped.inputs) {
        if (binding.role != spec.role) continue;
        const Tensor* tensor = Find(node.input(binding.position));
        if (tensor == nullptr) continue;
        auto host = ToHost(*tensor, spec);
        if (!host.ok()) return host.status();
        inputs.push_back(*std::move(host));
      }
    }
    return inputs;
  }

  template <typename Names>
  void Keep(const Names& names, const std::vector<Binding>& bindings,
            const std::vector<HostTensor>& tensors) {
    for (const Binding& binding : bindings) {
      if (binding.position >= names.size() || names.Get(binding.position).empty()) continue;
      for (const HostTensor& tensor : tensors) {
        if (tensor.spec.role != binding.role) continue;
        report_.values.emplace(names.Get(binding.position), FromHost(tensor, binding.shape));
      }
    }
  }

  Session& session_;
  const onnx::GraphProto& graph_;
  const int opset_;
  const CaseOptions& options_;
  std::map<std::string, absl::StatusOr<TensorType>> declared_;
  GraphReport report_;
};

}  // namespace

GraphReport RunGraph(Session& session, const onnx::ModelProto& model, const Tensors& given,
                     const CaseOptions& options) {
  return GraphRun(session, model, options).Run(given);
}

}  // namespace onepass::model
