// Model files.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace onnx {
class ModelProto;
}

namespace onepass::model {

// Reads a model. kInvalidArgument names the file where it cannot be read, is cut short or holds no
// graph.
absl::StatusOr<std::shared_ptr<const onnx::ModelProto>> ReadModel(const std::string& path);

// The version of ONNX's own operators that the model is written in; 1 where it does not say.
int OpsetOf(const onnx::ModelProto& model);

// The operator of a model that is a single node, "" for any other model.
std::string SingleOperatorOf(const onnx::ModelProto& model);

// "IR version 8, protobuf 3.21.12": what this program was built with.
std::string LibraryVersion();

}  // namespace onepass::model
