#include <algorithm>

#include "absl/strings/str_format.h"
#include "codegen/roles.h"
#include "codegen/strategy.h"
#include "nlohmann/json.hpp"
#include "runtime/cli/case_flags.h"
#include "runtime/cli/command.h"
#include "runtime/cli/line_run.h"
#include "runtime/cli/planned.h"
#include "runtime/cli/report_text.h"
#include "runtime/exit_code.h"

namespace onepass::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr Flag kFlags[] = {kDeviceFlag, kJsonFlag};

struct Explanation {
  Problem problem;
  PlannedDevice device;
  Key key;
  Extents extents;
  std::vector<Candidate> candidates = {};
  std::string choice = {};  // a strategy's name; "" where none accepts
};

absl::StatusOr<Explanation> Explain(const Problem& problem, const PlannedDevice& device) {
  const auto key = PlannedKey(problem);
  if (!key.ok()) return key.status();
  Explanation e{.problem = problem, .device = device, .key = *key, .extents = ExtentsOf(problem)};
  if (e.extents.elements == 0) return e;
  e.candidates = Candidates(e.key, device.spec);
  const auto plan = PlanFor(e.key, device.spec);
  if (plan.ok()) e.choice = std::string(plan->strategy);
  return e;
}

// Several geometries have a strategy of the same name.
bool IsChoice(const Explanation& e, const Candidate& candidate) {
  return candidate.strategy->name == e.choice && candidate.strategy->geometry == e.key.geometry;
}

Json CandidateJson(const Explanation& e, const Candidate& candidate) {
  Json plans = Json::array();
  for (const Plan& plan : candidate.plans) {
    const Counters predicted = Predict(e.key, plan, e.extents, e.device.spec);
    plans.push_back({{"plan", ToString(plan)},
                     {"predicted_us", EstimateMicroseconds(predicted, e.device.spec)},
                     {"predicted_dram_bytes", predicted.dram_bytes()}});
  }
  const bool accepted = candidate.refusal.empty();
  return {{"name", std::string(candidate.strategy->name)},
          {"accepted", accepted},
          {"reason", accepted ? Json(nullptr) : Json(candidate.refusal)},
          {"geometry", std::string(ToString(candidate.strategy->geometry))},
          {"chosen", IsChoice(e, candidate)},
          {"plans", plans}};
}

void PrintJson(const Explanation& e) {
  Json strategies = Json::array();
  for (const Candidate& candidate : e.candidates) strategies.push_back(CandidateJson(e, candidate));
  const Json json = {{"problem", ToString(e.problem)},
                     {"device", e.device.name},
                     {"key", ToString(e.key)},
                     {"minimum_bytes", MinimumBytes(e.problem)},
                     {"choice", e.choice.empty() ? Json(nullptr) : Json(e.choice)},
                     {"strategies", strategies}};
  absl::PrintF("%s\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void PrintCandidate(const Explanation& e, const Candidate& candidate) {
  const absl::string_view mark = IsChoice(e, candidate) ? "->" : "  ";
  if (!candidate.refusal.empty()) {
    absl::PrintF("%s %-20s refused: %s\n", mark, candidate.strategy->name, candidate.refusal);
    return;
  }
  absl::PrintF("%s %-20s accepted\n", mark, candidate.strategy->name);
  const auto minimum = static_cast<double>(std::max<int64_t>(1, MinimumBytes(e.problem)));
  for (const Plan& plan : candidate.plans) {
    const Counters predicted = Predict(e.key, plan, e.extents, e.device.spec);
    absl::PrintF("     %8.2f us  %10s DRAM (%.3fx)  %10s L2  %s\n",
                 EstimateMicroseconds(predicted, e.device.spec), BytesText(predicted.dram_bytes()),
                 static_cast<double>(predicted.dram_bytes()) / minimum,
                 BytesText(predicted.l2_bytes), ToString(plan));
  }
}

void PrintText(const Explanation& e) {
  absl::PrintF("%s\n  %-10s %s, %s, %d SMs, %.0f GB/s\n  %-10s %s\n  %-10s %s\n\n",
               ToString(e.problem), "device", e.device.name, e.device.spec.arch(),
               e.device.spec.sms, e.device.spec.dram_gbps, "key", ToString(e.key), "minimum",
               BytesText(MinimumBytes(e.problem)));
  if (e.extents.elements == 0) absl::PrintF("   nothing is launched: the tensor is empty\n");
  for (const Candidate& candidate : e.candidates) PrintCandidate(e, candidate);
}

int RunExplain(const Arguments& arguments) {
  if (arguments.words().empty()) return Complain("explain: no problem", kExitInvalid);
  const auto problem = ReadProblem(arguments.Line());
  if (!problem.ok()) return Complain(problem.status());
  const auto device = ReadPlannedDevice(arguments);
  if (!device.ok()) return Complain(device.status());
  const auto explanation = Explain(*problem, *device);
  if (!explanation.ok()) return Complain(explanation.status());
  arguments.Has("--json") ? PrintJson(*explanation) : PrintText(*explanation);
  if (!explanation->choice.empty() || explanation->extents.elements == 0) return kExitOk;
  return Complain(PlanFor(explanation->key, device->spec).status());
}

}  // namespace

const Command kExplainCommand = {
    "explain", "PROBLEM",
    "every strategy: accepted or why not, its plans, traffic and time; the choice", kFlags,
    RunExplain};

}  // namespace onepass::cli
