#include "runtime/onnx/model.h"

#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "onnx/onnx_pb.h"

namespace onepass::model {

absl::StatusOr<std::shared_ptr<const onnx::ModelProto>> ReadModel(const std::string& path) {
  // Protobuf writes lines of its own about what it cannot parse; here the caller tells.
  google::protobuf::SetLogHandler(nullptr);
  std::ifstream in(path, std::ios::binary);
  in.peek();
  if (!in.is_open() || in.bad())
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  in.clear();
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  auto model = std::make_shared<onnx::ModelProto>();
  if (!model->ParseFromString(bytes)) {
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

std::string LibraryVersion() {
  constexpr int kMajor = 1'000'000, kMinor = 1'000;
  return absl::StrCat("IR version ", static_cast<int>(onnx::IR_VERSION), ", protobuf ",
                      GOOGLE_PROTOBUF_VERSION / kMajor, ".",
                      GOOGLE_PROTOBUF_VERSION / kMinor % kMinor, ".",
                      GOOGLE_PROTOBUF_VERSION % kMinor);
}

}  // namespace onepass::model
