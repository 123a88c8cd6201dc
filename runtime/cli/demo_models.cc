#include "runtime/cli/demo_models.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/onnx/graph_run.h"
#include "runtime/onnx/model.h"
#include "runtime/onnx/test_data.h"

namespace onepass::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kPackage[] = "/usr/share/libonnx-testdata/data";
constexpr const char* kSuites[] = {"node", "pytorch-converted", "simple"};
constexpr absl::string_view kOperators[] = {
    "BatchNormalization", "Clip", "Elu",     "Gelu",     "HardSwish", "Identity",
    "LeakyRelu",          "Relu", "Sigmoid", "Softplus", "Swish",     "Tanh"};

std::vector<std::string> ModelFolders() {
  std::vector<std::string> folders;
  std::error_code error;
  for (const char* suite : kSuites) {
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(kPackage) / suite, error)) {
      folders.push_back(entry.path().string());
    }
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

bool IsDemonstrated(const std::string& op) {
  return std::find(std::begin(kOperators), std::end(kOperators), op) != std::end(kOperators);
}

// A model with the first set of its tensors.
void Demonstrate(Session& session, const std::string& folder, const onnx::ModelProto& model,
                 ModelTally& tally) {
  const std::string name = fs::path(folder).filename().string();
  const auto data = model::ReadTestData(folder, model);
  if (!data.ok()) {
    ++tally.wrong;
    absl::PrintF("  %-42s %s\n", name, data.status().message());
    return;
  }
  const model::GraphReport graph = model::RunGraph(session, model, data->front().inputs, {});
  const model::NodeReport& node = graph.nodes.front();
  if (!node.run.has_value()) {
    ++tally.unsupported;
    absl::PrintF("  %-42s not supported: %s\n", name, node.skipped);
    return;
  }
  bool right = node.run->ok();
  double largest = 0;
  for (const model::Comparison& comparison : model::Compare(data->front(), graph.values)) {
    right = right && comparison.ok() && comparison.missing.empty();
    largest = std::max(largest, comparison.largest_error);
  }
  const double compile_ms = node.run->time.has_value() ? node.run->time->compile_ms.value_or(0) : 0;
  tally.compile_ms += compile_ms;
  ++(right ? tally.right : tally.wrong);
  absl::PrintF("  %-42s %-52s %-6s %6.0f  %8.1e  %s\n", name, node.run->problem,
               node.run->cache.has_value() ? std::string(ToString(*node.run->cache)) : "-",
               compile_ms, largest,
               right ? "right" : absl::StrCat("WRONG ", node.run->error.value_or("")));
}

}  // namespace

absl::StatusOr<ModelTally> DemonstrateModels(Session& session) {
  const std::vector<std::string> folders = ModelFolders();
  if (folders.empty()) {
    return absl::UnavailableError(absl::StrCat(
        kPackage, ": no models; the distribution's package libonnx-testdata brings them"));
  }
  absl::PrintF("  %-42s %-52s %-6s %6s  %8s\n", "model", "problem", "cache", "ms",
               "largest difference");
  ModelTally tally;
  for (const std::string& folder : folders) {
    const auto model = model::ReadModel(folder + "/model.onnx");
    if (model.ok() && IsDemonstrated(model::SingleOperatorOf(**model)))
      Demonstrate(session, folder, **model, tally);
  }
  return tally;
}

}  // namespace onepass::cli
