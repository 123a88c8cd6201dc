// A model's supported nodes, run one after the other.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/case_run.h"
#include "runtime/onnx/tensor.h"
#include "runtime/run_report.h"
#include "runtime/session.h"

namespace onnx {
class ModelProto;
}

namespace onepass::model {

// Tensors by the names that a graph gives them.
using Tensors = std::map<std::string, Tensor>;

struct NodeReport {
  std::string name;                       // the node's own, or its first output's
  std::string op_type;                    // "BatchNormalization"
  std::vector<std::string> outputs = {};  // the values that it computes
  std::string skipped = {};               // why it is not supported; "" where it is
  std::optional<RunReport> run = {};      // also of a node that is wrong, and so did not run
};

struct GraphReport {
  std::vector<NodeReport> nodes;
  Tensors values;  // everything that was given, generated or computed
};

// Runs every node that is supported and whose inputs are there. `given` are the graph's inputs by
// name; those that are not given are generated (by their first reader's role), symbolic sizes taken
// as 1. A node that reads what an unsupported node would have written is skipped, which its report
// says; one that contradicts itself or its inputs has a run with exit code 2.
GraphReport RunGraph(Session& session, const onnx::ModelProto& model, const Tensors& given,
                     const CaseOptions& options);

}  // namespace onepass::model
