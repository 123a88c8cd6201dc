// The strategy table: who holds the data while it is reduced. One row a strategy; the planner,
// `explain`, the emitter and the tests read nothing else. A new strategy is one file in
// strategies/, one .cuh in templates/, one row here, one golden source.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/counters.h"
#include "codegen/device_spec.h"
#include "codegen/key.h"
#include "codegen/plan.h"
#include "llvm/ADT/ArrayRef.h"

namespace onepass {

// A kernel of a skeleton: "onepass_GEOMETRY_STRATEGY" + suffix calls the device function template
// `function`.
struct EntryPoint {
  absl::string_view suffix;
  absl::string_view function;
};

struct Strategy {
  absl::string_view name;
  Geometry geometry;
  // Empty if the strategy can compute this Key on this device, otherwise the reason why not.
  std::string (*refusal)(const Key&, const DeviceSpec&);
  // A few plans worth measuring, only called where refusal is empty; never empty then.
  std::vector<Plan> (*propose)(const Key&, const DeviceSpec&);
  // Grid, shared memory and workspace of one launch.
  Schedule (*schedule)(const Key&, const Plan&, const Extents&);
  // The traffic and the shape of one launch in closed form.
  Counters (*predict)(const Key&, const Plan&, const Extents&, const DeviceSpec&);
  // The skeleton in templates/ and its kernels in launch order.
  absl::string_view skeleton;
  llvm::ArrayRef<EntryPoint> entries;
};

llvm::ArrayRef<Strategy> Strategies();

// Null if there is no such row.
const Strategy* FindStrategy(absl::string_view name, Geometry geometry);
// The row of a plan that PlanFor made for this key.
const Strategy& StrategyOf(const Key& key, const Plan& plan);

// One row of the choice, for `explain`.
struct Candidate {
  const Strategy* strategy = nullptr;
  std::string refusal;  // empty: accepted
  std::vector<Plan> plans = {};
  Counters predicted = {};  // of plans[0], the best by the time model
  double microseconds = 0;  // of plans[0]
};

// Every strategy with its reason or its plans, best plan first, for the Key's representative sizes.
std::vector<Candidate> Candidates(const Key& key, const DeviceSpec& device);

// kInvalidArgument where `forced` is neither "" nor the name of a row.
absl::Status CheckStrategyName(absl::string_view forced);

// The fastest accepted plan by the time model. `forced` names a strategy ("" is free choice): where
// it does not accept, kUnimplemented with its reason; an unknown name is kInvalidArgument.
// kUnimplemented too where no strategy computes the operator, which says so.
absl::StatusOr<Plan> PlanFor(const Key& key, const DeviceSpec& device,
                             absl::string_view forced = "");

Schedule ScheduleOf(const Key& key, const Plan& plan, const Extents& extents);
Counters Predict(const Key& key, const Plan& plan, const Extents& extents,
                 const DeviceSpec& device);

}  // namespace onepass
