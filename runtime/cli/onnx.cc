#include "runtime/cli/onnx.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
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
                           kSanitizeFlag, kJsonFlag,   kNoCacheFlag};

// What the whole model came to.
struct Outcome {
  int ran = 0;
  int skipped = 0;
  int compared = 0;
  int exit_code = kExitOk;
  std::string first_error;

  void Fail(int code, std::string error) {
    exit_code = WorstOf(exit_code, code);
    if (first_error.empty()) first_error = std::move(error);
  }
};

void PrintNode(const model::NodeReport& node, bool json, Outcome& outcome) {
  const std::string label = absl::StrCat(node.op_type, " '", node.name, "'");
  if (!node.run.has_value()) {
    ++outcome.skipped;
    if (!json) absl::PrintF("%s\n  skipped: %s\n", label, node.skipped);
    if (outcome.first_error.empty()) outcome.first_error = absl::StrCat(label, ": ", node.skipped);
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
    outcome.Fail(kExitCheckFailed,
                 absl::StrCat("output '", comparison.output, "': ", comparison.mismatches,
                              " elements differ from the model's own tensor"));
  }
  if (!json)
    absl::PrintF("output '%s' against the model's own tensor: %s\n", comparison.output, verdict);
}

// One set of test data, or none: then `data` is empty.
void RunOnce(Session& session, const onnx::ModelProto& model, const model::TestData& data,
             const CaseOptions& options, bool json, Outcome& outcome) {
  if (!json && !data.folder.empty()) absl::PrintF("%s\n", data.folder);
  const model::GraphReport report = model::RunGraph(session, model, data.inputs, options);
  for (const model::NodeReport& node : report.nodes) PrintNode(node, json, outcome);
  for (const model::Comparison& comparison : model::Compare(data, report.values)) {
    PrintComparison(comparison, json, outcome);
  }
}

int Conclude(const Outcome& outcome, bool compared, bool json) {
  if (!json) {
    absl::PrintF("%d nodes ran, %d skipped; tolerance: onepass's own against float64", outcome.ran,
                 outcome.skipped);
    if (compared) {
      absl::PrintF(", and rtol %g atol %g (ONNX's) against %d of the model's tensors",
                   model::kOnnxRelative, model::kOnnxAbsolute, outcome.compared);
    }
    absl::PrintF("\n");
  }
  if (outcome.exit_code != kExitOk) return Complain(outcome.first_error, outcome.exit_code);
  if (outcome.ran > 0) return kExitOk;
  return Complain(absl::StrCat("no node is supported: ", outcome.first_error), kExitUnsupported);
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
