#include "runtime/cli/onnx.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"
#include "runtime/cli/case_flags.h"
#include "runtime/cli/command.h"
#include "runtime/cli/report_text.h"
#include "runtime/exit_code.h"
#include "runtime/onnx/graph_run.h"
#include "runtime/onnx/model.h"
#include "runtime/onnx/test_data.h"
#include "runtime/report_json.h"

namespace onepass::cli {
namespace {

constexpr Flag kOnnxDataFlag{"--data", "DIR", "compare with the tensors in DIR/test_data_set_*"};
constexpr Flag kFlags[] = {kOnnxDataFlag, kDeviceFlag, kStrategyFlag, kSeedFlag,
                           kSanitizeFlag, kApproxFlag, kJsonFlag,     kNoCacheFlag};

using Json = nlohmann::ordered_json;

// What the whole model came to.
struct Outcome {
  int ran = 0;
  int skipped = 0;
  int compared = 0;
  int exit_code = kExitOk;
  std::string first_error;
  std::string first_skip;
  Json outputs = Json::array();

  void Fail(int code, std::string error) {
    exit_code = WorstOf(exit_code, code);
    if (first_error.empty()) first_error = std::move(error);
  }
};

std::string MismatchText(const model::Comparison& comparison) {
  return absl::StrCat("output '", comparison.output, "': ", comparison.mismatches,
                      " elements differ from the model's own tensor");
}

// A node whose output is not the model's own tensor is wrong, whatever its own check says.
void Blame(const model::Comparison& comparison, std::vector<model::NodeReport>& nodes) {
  for (model::NodeReport& node : nodes) {
    const auto& outputs = node.outputs;
    if (!node.run.has_value() ||
        std::find(outputs.begin(), outputs.end(), comparison.output) == outputs.end())
      continue;
    node.run->exit = WorstOf(node.run->exit, kExitCheckFailed);
    if (!node.run->error.has_value()) node.run->error = MismatchText(comparison);
  }
}

void PrintNode(const model::NodeReport& node, bool json, Outcome& outcome) {
  const std::string label = absl::StrCat(node.op_type, " '", node.name, "'");
  if (!node.run.has_value()) {
    ++outcome.skipped;
    if (!json) absl::PrintF("%s\n  skipped: %s\n", label, node.skipped);
    if (outcome.first_skip.empty()) outcome.first_skip = absl::StrCat(label, ": ", node.skipped);
    return;
  }
  ++outcome.ran;
  if (!node.run->ok())
    outcome.Fail(node.run->exit, absl::StrCat(label, ": ", node.run->error.value_or("failed")));
  if (json) {
    absl::PrintF("%s\n", ToJson(*node.run));
  } else {
    absl::PrintF("%s is %s", label, ToText(*node.run));
  }
}

void PrintComparison(const model::Comparison& comparison, bool json, Outcome& outcome) {
  std::string verdict = absl::StrFormat("right: largest difference %.3g", comparison.largest_error);
  if (!comparison.missing.empty()) {
    verdict = absl::StrCat("not compared: ", comparison.missing);
  } else {
    ++outcome.compared;
  }
  if (!comparison.ok()) {
    verdict = absl::StrCat("WRONG: ", comparison.mismatches, " elements");
    outcome.Fail(kExitCheckFailed, MismatchText(comparison));
  }
  const bool compared = comparison.missing.empty();
  outcome.outputs.push_back(
      {{"name", comparison.output},
       {"ok", compared ? Json(comparison.ok()) : Json(nullptr)},
       {"mismatches", compared ? Json(comparison.mismatches) : Json(nullptr)},
       {"max_abs_error", compared ? Json(comparison.largest_error) : Json(nullptr)},
       {"not_compared", compared ? Json(nullptr) : Json(comparison.missing)}});
  if (!json)
    absl::PrintF("output '%s' against the model's own tensor: %s\n", comparison.output, verdict);
}

// One set of test data, or none: then `data` is empty.
void RunOnce(Session& session, const onnx::ModelProto& model, const model::TestData& data,
             const CaseOptions& options, bool json, Outcome& outcome) {
  if (!json && !data.folder.empty()) absl::PrintF("%s\n", data.folder);
  model::GraphReport report = model::RunGraph(session, model, data.inputs, options);
  const std::vector<model::Comparison> comparisons = model::Compare(data, report.values);
  for (const model::Comparison& comparison : comparisons) {
    if (!comparison.ok()) Blame(comparison, report.nodes);
  }
  for (const model::NodeReport& node : report.nodes) PrintNode(node, json, outcome);
  for (const model::Comparison& comparison : comparisons) {
    PrintComparison(comparison, json, outcome);
  }
}

std::string SummaryJson(const Outcome& outcome) {
  const Json summary = {
      {"ok", outcome.exit_code == kExitOk},
      {"exit", outcome.exit_code},
      {"error", outcome.first_error.empty() ? Json(nullptr) : Json(outcome.first_error)},
      {"nodes_ran", outcome.ran},
      {"nodes_skipped", outcome.skipped},
      {"outputs", outcome.outputs}};
  return Json({{"summary", summary}}).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void PrintSummary(const Outcome& outcome, bool compared) {
  absl::PrintF("%d nodes ran, %d skipped; tolerance: onepass's own against float64", outcome.ran,
               outcome.skipped);
  if (compared) {
    absl::PrintF(", and rtol %g atol %g (ONNX's) against %d of the model's tensors",
                 model::kOnnxRelative, model::kOnnxAbsolute, outcome.compared);
  }
  absl::PrintF("\n");
}

int Conclude(Outcome& outcome, bool compared, bool json) {
  if (outcome.ran == 0)
    outcome.Fail(kExitUnsupported, absl::StrCat("no node is supported: ", outcome.first_skip));
  if (json) {
    absl::PrintF("%s\n", SummaryJson(outcome));
  } else {
    PrintSummary(outcome, compared);
  }
  return outcome.exit_code == kExitOk ? kExitOk : Complain(outcome.first_error, outcome.exit_code);
}

int RunOnnx(const Arguments& arguments) {
  if (arguments.words().size() != 1) return Complain("onnx takes one MODEL", kExitInvalid);
  const auto model = model::ReadModel(arguments.words()[0]);
  if (!model.ok()) return Complain(model.status());
  std::vector<model::TestData> sets(1);
  if (arguments.Has("--data")) {
    auto read = model::ReadTestData(arguments.Get("--data"), **model);
    if (!read.ok()) return Complain(read.status());
    sets = *std::move(read);
  }
  const auto seed = arguments.GetNumber("--seed", 0);
  if (!seed.ok()) return Complain(seed.status());
  const auto session = OpenSession(arguments);
  if (!session.ok()) return Complain(session.status());
  const CaseOptions options{.strategy = arguments.Get("--strategy"), .data = {}, .seed = *seed};
  Outcome outcome;
  for (const model::TestData& data : sets) {
    RunOnce(**session, **model, data, options, arguments.Has("--json"), outcome);
  }
  return Conclude(outcome, arguments.Has("--data"), arguments.Has("--json"));
}

}  // namespace

std::string OnnxVersion() { return model::LibraryVersion(); }

const Command kOnnxCommand = {"onnx", "MODEL", "run the supported nodes of an ONNX model", kFlags,
                              RunOnnx};

}  // namespace onepass::cli
