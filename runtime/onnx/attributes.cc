#include "runtime/onnx/attributes.h"

#include <charconv>

#include "onnx/onnx_pb.h"

namespace onepass::model {
namespace {

const onnx::AttributeProto* Find(const onnx::NodeProto& node, absl::string_view name) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == std::string(name)) return &attribute;
  }
  return nullptr;
}

}  // namespace

double ShortestDecimal(float value) {
  char text[32];
  const char* end = std::to_chars(text, text + sizeof(text), value).ptr;
  double decimal = value;
  std::from_chars(text, end, decimal);
  return decimal;
}

bool HasAttribute(const onnx::NodeProto& node, absl::string_view name) {
  return Find(node, name) != nullptr;
}

double FloatAttribute(const onnx::NodeProto& node, absl::string_view name, double otherwise) {
  const onnx::AttributeProto* attribute = Find(node, name);
  return attribute == nullptr ? otherwise : ShortestDecimal(attribute->f());
}

int64_t IntAttribute(const onnx::NodeProto& node, absl::string_view name, int64_t otherwise) {
  const onnx::AttributeProto* attribute = Find(node, name);
  return attribute == nullptr ? otherwise : attribute->i();
}

std::string StringAttribute(const onnx::NodeProto& node, absl::string_view name,
                            absl::string_view otherwise) {
  const onnx::AttributeProto* attribute = Find(node, name);
  return attribute == nullptr ? std::string(otherwise) : attribute->s();
}

}  // namespace onepass::model
