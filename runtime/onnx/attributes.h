// The attributes of a node, with ONNX's defaults for those that are absent.
#pragma once

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace onnx {
class NodeProto;
}

namespace onepass::model {

bool HasAttribute(const onnx::NodeProto& node, absl::string_view name);
// The shortest decimal that reads as the attribute's f32, as a double: 1e-5 rather
// than 9.99999974e-06.
double FloatAttribute(const onnx::NodeProto& node, absl::string_view name, double otherwise);
int64_t IntAttribute(const onnx::NodeProto& node, absl::string_view name, int64_t otherwise);
std::string StringAttribute(const onnx::NodeProto& node, absl::string_view name,
                            absl::string_view otherwise);

double ShortestDecimal(float value);

}  // namespace onepass::model
