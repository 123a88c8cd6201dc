#include "codegen/strategy.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/strategies/rows.h"

namespace onepass {
namespace {

// Within a geometry the last row always accepts what the geometry's operators are.
const Strategy* const kStrategies[] = {&kFlat, &kRowPersistentBlock, &kRowMultiPass,
                                       &kColumnPersistentGrid, &kColumnMultiPass};

llvm::ArrayRef<Strategy> Table() {
  static const std::vector<Strategy>* const table = [] {
    auto* rows = new std::vector<Strategy>;
    for (const Strategy* row : kStrategies) rows->push_back(*row);
    return rows;
  }();
  return *table;
}

std::string GeometryRefusal(const Strategy& strategy, const Key& key) {
  if (strategy.geometry == key.geometry) return "";
  return absl::StrCat("works on ", ToString(strategy.geometry), " geometry; this problem is ",
                      ToString(key.geometry));
}

Candidate Consider(const Strategy& strategy, const Key& key, const DeviceSpec& device) {
  Candidate candidate{.strategy = &strategy, .refusal = GeometryRefusal(strategy, key)};
  if (candidate.refusal.empty()) candidate.refusal = strategy.refusal(key, device);
  if (!candidate.refusal.empty()) return candidate;
  const Extents extents = RepresentativeExtents(key);
  const auto microseconds = [&](const Plan& plan) {
    return EstimateMicroseconds(strategy.predict(key, plan, extents, device), device);
  };
  candidate.plans = strategy.propose(key, device);
  std::stable_sort(candidate.plans.begin(), candidate.plans.end(),
                   [&](const Plan& a, const Plan& b) { return microseconds(a) < microseconds(b); });
  candidate.predicted = strategy.predict(key, candidate.plans[0], extents, device);
  candidate.microseconds = microseconds(candidate.plans[0]);
  return candidate;
}

bool IsName(absl::string_view name) {
  return std::any_of(Table().begin(), Table().end(),
                     [&](const Strategy& row) { return row.name == name; });
}

// Why nothing was chosen.
absl::Status Refused(const std::vector<Candidate>& candidates, const Key& key,
                     absl::string_view forced) {
  std::string reason = absl::StrCat("no strategy computes ", ToString(key.op), " yet");
  for (const Candidate& candidate : candidates) {
    if (candidate.strategy->name != forced) continue;
    reason = absl::StrCat("strategy: ", forced, " refuses: ", candidate.refusal);
    if (candidate.strategy->geometry == key.geometry) break;
  }
  return absl::UnimplementedError(reason);
}

}  // namespace

llvm::ArrayRef<Strategy> Strategies() { return Table(); }

const Strategy* FindStrategy(absl::string_view name, Geometry geometry) {
  for (const Strategy& row : Table()) {
    if (row.name == name && row.geometry == geometry) return &row;
  }
  return nullptr;
}

const Strategy& StrategyOf(const Key& key, const Plan& plan) {
  return *FindStrategy(plan.strategy, key.geometry);
}

std::vector<Candidate> Candidates(const Key& key, const DeviceSpec& device) {
  std::vector<Candidate> candidates;
  for (const Strategy& row : Table()) candidates.push_back(Consider(row, key, device));
  return candidates;
}

absl::Status CheckStrategyName(absl::string_view forced) {
  if (forced.empty() || IsName(forced)) return absl::OkStatus();
  std::vector<absl::string_view> names;
  for (const Strategy& row : Table()) {
    if (std::find(names.begin(), names.end(), row.name) == names.end()) names.push_back(row.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("strategy: \"", forced, "\" is none of ", absl::StrJoin(names, ", ")));
}

absl::StatusOr<Plan> PlanFor(const Key& key, const DeviceSpec& device, absl::string_view forced) {
  if (absl::Status known = CheckStrategyName(forced); !known.ok()) return known;
  if (RowOf(key.act).cuda.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("act: no kernel computes ", RowOf(key.act).name, " yet"));
  }
  const std::vector<Candidate> candidates = Candidates(key, device);
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates) {
    if (!candidate.refusal.empty() || (!forced.empty() && candidate.strategy->name != forced))
      continue;
    if (best == nullptr || candidate.microseconds < best->microseconds) best = &candidate;
  }
  if (best == nullptr) return Refused(candidates, key, forced);
  return best->plans[0];
}

Schedule ScheduleOf(const Key& key, const Plan& plan, const Extents& extents) {
  return StrategyOf(key, plan).schedule(key, plan, extents);
}

Counters Predict(const Key& key, const Plan& plan, const Extents& extents,
                 const DeviceSpec& device) {
  return StrategyOf(key, plan).predict(key, plan, extents, device);
}

}  // namespace onepass
