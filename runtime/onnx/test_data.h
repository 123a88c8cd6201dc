// The tensors that are shipped with a model, as ONNX's own tests keep them: folders test_data_set_N
// with input_K.pb and output_K.pb.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/onnx/graph_run.h"
#include "runtime/onnx/tensor.h"

namespace onnx {
class ModelProto;
}

namespace onepass::model {

struct TestData {
  std::string folder;
  Tensors inputs = {};
  Tensors outputs = {};  // by the names of the graph's outputs
  // Outputs that are shipped but have a type that is not supported.
  std::vector<std::string> unsupported = {};
};

// `folder` holds test_data_set_* folders, or is one itself. kInvalidArgument names what is missing,
// unreadable or not of the type and shape that the model declares.
absl::StatusOr<std::vector<TestData>> ReadTestData(const std::string& folder,
                                                   const onnx::ModelProto& model);

// ONNX's own backend tests allow this much.
inline constexpr double kOnnxRelative = 1e-3;
inline constexpr double kOnnxAbsolute = 1e-7;

struct Comparison {
  std::string output;
  std::string missing = {};  // why it could not be compared; "" where it was
  int64_t mismatches = 0;    // elements out of tolerance, or of another class of NaN or Inf
  double largest_error = 0;  // among finite elements
  bool ok() const { return mismatches == 0; }
};

// Every shipped output against what was computed.
std::vector<Comparison> Compare(const TestData& data, const Tensors& computed);

}  // namespace onepass::model
