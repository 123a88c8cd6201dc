#include "runtime/onnx/test_data.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "onnx/onnx_pb.h"

namespace onepass::model {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> DataFolders(const std::string& folder) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename() == "input_0.pb" || entry.path().filename() == "output_0.pb")
      return {folder};
    if (absl::StartsWith(entry.path().filename().string(), "test_data_set_"))
      folders.push_back(entry.path().string());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

// What input_0.pb, input_1.pb... stand for: the graph's inputs without a value in the model.
std::vector<const onnx::ValueInfoProto*> InputsOf(const onnx::GraphProto& graph) {
  std::set<std::string> initialized;
  for (const onnx::TensorProto& tensor : graph.initializer()) initialized.insert(tensor.name());
  std::vector<const onnx::ValueInfoProto*> inputs;
  for (const onnx::ValueInfoProto& input : graph.input()) {
    if (!initialized.contains(input.name())) inputs.push_back(&input);
  }
  return inputs;
}

std::vector<const onnx::ValueInfoProto*> OutputsOf(const onnx::GraphProto& graph) {
  std::vector<const onnx::ValueInfoProto*> outputs;
  for (const onnx::ValueInfoProto& output : graph.output()) outputs.push_back(&output);
  return outputs;
}

std::string Declared(const onnx::TypeProto::Tensor& type, DType dtype) {
  return absl::StrCat(onepass::ToString(dtype), "[",
                      absl::StrJoin(type.shape().dim(), "x",
                                    [](std::string* out, const auto& size) {
                                      size.has_dim_value()
                                          ? absl::StrAppend(out, size.dim_value())
                                          : absl::StrAppend(out, size.dim_param(), "?");
                                    }),
                      "]");
}

// Whether a tensor is what the graph declares of a value, as far as it does: a size may have a name
// in place of a number, and the shape may be missing.
absl::Status CheckDeclared(const onnx::ValueInfoProto& value, const Tensor& tensor,
                           const std::string& path) {
  const onnx::TypeProto::Tensor& declared = value.type().tensor_type();
  const auto dtype = DTypeOf(declared.elem_type());
  if (!dtype.ok()) return absl::OkStatus();  // said by whoever needs it
  bool fits = *dtype == tensor.type.dtype;
  if (declared.has_shape()) {
    fits = fits && declared.shape().dim_size() == static_cast<int>(tensor.type.shape.size());
    for (int axis = 0; fits && axis < declared.shape().dim_size(); ++axis) {
      const auto& size = declared.shape().dim(axis);
      fits = !size.has_dim_value() || size.dim_value() == tensor.type.shape[axis];
    }
  }
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(path, ": wanted ", Declared(declared, *dtype),
                                                 " for '", value.name(), "', found ",
                                                 ToString(tensor.type)));
}

// Reads PREFIX_0.pb and so on, one for each value; what is no tensor of a type of ours goes by.
absl::Status ReadSeries(const std::string& prefix,
                        const std::vector<const onnx::ValueInfoProto*>& values, Tensors& tensors,
                        std::vector<std::string>& unsupported) {
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string path = absl::StrCat(prefix, "_", i, ".pb");
    if (!fs::exists(path)) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, " is missing; it holds '", values[i]->name(), "'"));
    }
    auto tensor = values[i]->type().has_tensor_type()
                      ? ReadTensorFile(path)
                      : absl::StatusOr<Tensor>(absl::UnimplementedError("no tensor"));
    if (absl::IsUnimplemented(tensor.status())) {
      unsupported.push_back(values[i]->name());
      continue;
    }
    if (!tensor.ok()) return tensor.status();
    if (absl::Status s = CheckDeclared(*values[i], *tensor, path); !s.ok()) return s;
    tensors.emplace(values[i]->name(), *std::move(tensor));
  }
  return absl::OkStatus();
}

bool Near(double got, double want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  return std::abs(got - want) <= kOnnxAbsolute + kOnnxRelative * std::abs(want);
}

void CompareTensors(const Tensor& want, const Tensor& got, Comparison& comparison) {
  for (int64_t i = 0; i < ElementsOf(want.type.shape); ++i) {
    const double difference = std::abs(ValueAt(got, i) - ValueAt(want, i));
    if (std::isfinite(difference))
      comparison.largest_error = std::max(comparison.largest_error, difference);
    if (!Near(ValueAt(got, i), ValueAt(want, i))) ++comparison.mismatches;
  }
}

}  // namespace

absl::StatusOr<std::vector<TestData>> ReadTestData(const std::string& folder,
                                                   const onnx::ModelProto& model) {
  const std::vector<std::string> folders = DataFolders(folder);
  if (folders.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--data: ", folder, " holds no test_data_set_* folder"));
  }
  std::vector<TestData> sets;
  for (const std::string& path : folders) {
    TestData data{.folder = path};
    std::vector<std::string> ignored;
    absl::Status status =
        ReadSeries(path + "/input", InputsOf(model.graph()), data.inputs, ignored);
    status.Update(
        ReadSeries(path + "/output", OutputsOf(model.graph()), data.outputs, data.unsupported));
    if (!status.ok())
      return absl::Status(status.code(), absl::StrCat("--data: ", status.message()));
    sets.push_back(std::move(data));
  }
  return sets;
}

std::vector<Comparison> Compare(const TestData& data, const Tensors& computed) {
  std::vector<Comparison> comparisons;
  for (const std::string& name : data.unsupported) {
    comparisons.push_back({.output = name, .missing = "its type is not supported"});
  }
  for (const auto& [name, want] : data.outputs) {
    Comparison comparison{.output = name};
    const auto got = computed.find(name);
    if (got == computed.end()) {
      comparison.missing = "its node did not run";
    } else if (got->second.type.dtype != want.type.dtype ||
               got->second.type.shape != want.type.shape) {
      comparison.mismatches = ElementsOf(want.type.shape);
    } else {
      CompareTensors(want, got->second, comparison);
    }
    comparisons.push_back(std::move(comparison));
  }
  return comparisons;
}

}  // namespace onepass::model
