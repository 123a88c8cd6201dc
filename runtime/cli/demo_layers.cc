#include "runtime/cli/demo_layers.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/case_run.h"
#include "runtime/cli/in_order.h"
#include "runtime/exit_code.h"

namespace onepass::cli {
namespace {

struct Layer {
  const char* name;
  int count;  // in the network
  int channels;
  int side;
  bool residual;  // added before the activation
  bool relu;
};

constexpr int kBatch = 32;
constexpr Layer kResNet50[] = {
    {"conv1.bn", 1, 64, 112, false, true},     {"layer1.bn1,bn2", 6, 64, 56, false, true},
    {"layer1.bn3", 3, 256, 56, true, true},    {"layer1.downsample", 1, 256, 56, false, false},
    {"layer2.0.bn1", 1, 128, 56, false, true}, {"layer2.bn1,bn2", 7, 128, 28, false, true},
    {"layer2.bn3", 4, 512, 28, true, true},    {"layer2.downsample", 1, 512, 28, false, false},
    {"layer3.0.bn1", 1, 256, 28, false, true}, {"layer3.bn1,bn2", 11, 256, 14, false, true},
    {"layer3.bn3", 6, 1024, 14, true, true},   {"layer3.downsample", 1, 1024, 14, false, false},
    {"layer4.0.bn1", 1, 512, 14, false, true}, {"layer4.bn1,bn2", 5, 512, 7, false, true},
    {"layer4.bn3", 3, 2048, 7, true, true},    {"layer4.downsample", 1, 2048, 7, false, false},
};

// A layer in one layout and type.
struct Case {
  const Layer* layer;
  Problem problem;
};

struct Pair {
  RunReport persistent, multi_pass;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Layout layout : {Layout::kChannelsFirst, Layout::kChannelsLast}) {
    for (const DType dtype : {DType::kF16, DType::kF32}) {
      for (const Layer& layer : kResNet50) {
        Problem problem;
        problem.op = Op::kBatchNormTrain;
        problem.dtype = dtype;
        problem.layout = layout;
        problem.dims = {kBatch, layer.channels, layer.side, layer.side};
        problem.residual = layer.residual;
        if (layer.relu) problem.act = {ActivationKind::kRelu};
        cases.push_back({&layer, problem});
      }
    }
  }
  return cases;
}

// Without a check the values do not matter, and equal ones are quicker to make.
Pair RunPair(Session& session, const Problem& problem, bool check) {
  const bool rows = problem.layout == Layout::kChannelsFirst;
  CaseOptions options{
      .strategy = rows ? "persistent_block" : "persistent_grid", .data = {}, .check = check};
  if (!check) options.data.kind = DataSpec::Kind::kConstant;
  CaseResult persistent = RunCase(session, problem, options);
  options.strategy = "multi_pass";
  CaseResult multi_pass = RunCase(session, problem, options, std::move(persistent.inputs));
  return {std::move(persistent.report), std::move(multi_pass.report)};
}

double LargestError(const RunReport& report) {
  double largest = 0;
  if (!report.check.has_value()) return largest;
  for (const auto& [name, output] : report.check->outputs) {
    largest = std::max(largest, output.max_abs_error.value_or(0));
  }
  return largest;
}

// What a run cost, or why there was none.
std::string CellText(const RunReport& report) {
  if (report.ok()) {
    return absl::StrFormat("%6.0f ms %-6s %6.3fx", report.time->compile_ms.value_or(0),
                           std::string(ToString(*report.cache)), report.traffic->ratio.value_or(0));
  }
  const std::string error = report.error.value_or("");
  if (report.exit != kExitUnsupported) return absl::StrCat("FAILED: ", error);
  constexpr absl::string_view kRefuses = "refuses: ";
  const size_t reason = error.find(kRefuses.data());
  return absl::StrCat("refused: ",
                      reason == std::string::npos ? error : error.substr(reason + kRefuses.size()));
}

void Print(const Case& c, const Pair& pair, bool check) {
  const double error = std::max(LargestError(pair.persistent), LargestError(pair.multi_pass));
  const bool ran = pair.persistent.ok();
  absl::PrintF("  %-17s %2dx %4dx%-3d %s %s  %-16s %-24s  %-24s  %s\n", c.layer->name,
               c.layer->count, c.layer->channels, c.layer->side, ToString(c.problem.layout),
               ToString(c.problem.dtype), ran ? pair.persistent.plan->strategy : "none",
               ran ? CellText(pair.persistent) : "see below", CellText(pair.multi_pass),
               check ? absl::StrFormat("%.1e", error) : "-");
  if (!ran) absl::PrintF("      persistent %s\n", CellText(pair.persistent));
  std::fflush(stdout);
}

void Add(const RunReport& report, LayerTally& tally) {
  if (!report.time.has_value()) return;
  const double compile_ms = report.time->compile_ms.value_or(0);
  tally.compile_ms += compile_ms;
  tally.compiled += compile_ms > 0 ? 1 : 0;
}

void Add(const Case& c, const Pair& pair, LayerTally& tally) {
  ++tally.layers;
  Add(pair.persistent, tally);
  Add(pair.multi_pass, tally);
  const bool refused = pair.persistent.exit == kExitUnsupported;
  if (!pair.multi_pass.ok() || (!pair.persistent.ok() && !refused)) {
    ++tally.wrong;
  } else if (!refused) {
    ++tally.persistent;
    tally.persistent_bytes += c.layer->count * pair.persistent.traffic->dram_bytes();
    tally.multi_pass_bytes += c.layer->count * pair.multi_pass.traffic->dram_bytes();
    tally.minimum_bytes += c.layer->count * pair.persistent.traffic->minimum_bytes;
  }
}

}  // namespace

LayerTally DemonstrateLayers(Session& session, bool check) {
  absl::PrintF("  %-17s %3s %-8s %-8s  %-41s  %-24s  %s\n", "layer", "", "channels", "",
               "persistent: compile, cache, DRAM/minimum", "multi-pass: the same", "error");
  LayerTally tally;
  const std::vector<Case> cases = Cases();
  InOrder<Pair>(
      cases.size(), std::max(1u, std::thread::hardware_concurrency()),
      [&](size_t i) { return RunPair(session, cases[i].problem, check); },
      [&](size_t i, const Pair& pair) {
        Print(cases[i], pair, check);
        Add(cases[i], pair, tally);
      });
  return tally;
}

}  // namespace onepass::cli
