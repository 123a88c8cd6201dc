#include "runtime/onnx/model.h"

#include "absl/strings/str_cat.h"
#include "onnx/onnx_pb.h"
#include "runtime/whole_file.h"

namespace onepass::model {

absl::StatusOr<std::shared_ptr<const onnx::ModelProto>> ReadModel(const std::string& path) {
  // Protobuf writes lines of its own about what it cannot parse; here the caller tells.
  google::protobuf::SetLogHandler(nullptr);
  const absl::StatusOr<std::string> bytes = ReadWholeFile(path);
  if (!bytes.ok()) return bytes.status();
  auto model = std::make_shared<onnx::ModelProto>();
  if (!model->ParseFromString(*bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is no ONNX model, or is cut short"));
  }
  if (!model->has_graph() || model->graph().node().empty()) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": holds no graph"));
  }
  return model;
}

int OpsetOf(const onnx::ModelProto& model) {
  for (const onnx::OperatorSetIdProto& opset : model.opset_import()) {
    if (opset.domain().empty() || opset.domain() == "ai.onnx")
      return static_cast<int>(opset.version());
  }
  return 1;
}

std::string SingleOperatorOf(const onnx::ModelProto& model) {
  return model.graph().node_size() == 1 ? model.graph().node(0).op_type() : "";
}

std::string LibraryVersion() {
  constexpr int kMajor = 1'000'000, kMinor = 1'000;
  return absl::StrCat("IR version ", static_cast<int>(onnx::IR_VERSION), ", protobuf ",
                      GOOGLE_PROTOBUF_VERSION / kMajor, ".",
                      GOOGLE_PROTOBUF_VERSION / kMinor % kMinor, ".",
                      GOOGLE_PROTOBUF_VERSION % kMinor);
}

}  // namespace onepass::model
