#include "runtime/kernel_report.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/key.h"
#include "codegen/roles.h"
#include "codegen/sectors.h"
#include "codegen/strategy.h"

namespace onepass {
namespace {

PlanReport PlanReportOf(const Kernel& kernel, const Extents& extents) {
  const Schedule schedule = ScheduleOf(kernel.key, kernel.plan, extents);
  PlanReport plan{.strategy = std::string(kernel.plan.strategy),
                  .geometry = std::string(ToString(kernel.key.geometry)),
                  .text = ToString(kernel.plan),
                  .workspace_bytes = schedule.workspace_bytes};
  for (const LaunchShape& shape : schedule.launches) {
    LaunchReport launch{.kernel = kernel.source.kernels[shape.kernel], .shape = shape};
    if (!kernel.binary.cubin.empty() &&
        shape.kernel < static_cast<int>(kernel.binary.resources.size())) {
      launch.registers = kernel.binary.resources[shape.kernel].registers;
      launch.spill_bytes = kernel.binary.resources[shape.kernel].spill_bytes;
    }
    plan.launches.push_back(std::move(launch));
  }
  return plan;
}

// A kernel that an earlier case has loaded costs this one nothing.
TimeReport TimeReportOf(const Kernel& kernel, bool first_use) {
  if (!first_use) return {.codegen_us = 0.0, .compile_ms = 0.0, .load_us = 0.0};
  return {
      .codegen_us = kernel.codegen_us, .compile_ms = kernel.compile_ms, .load_us = kernel.load_us};
}

// One more read and write of a tensor like y for each thing that the kernel does besides its
// operator.
int64_t FusionBytes(const Problem& problem) {
  if (!IsNorm(problem.op)) return 0;
  const int64_t stages = (problem.residual ? 1 : 0) + (problem.skip ? 1 : 0) +
                         (problem.act.kind == ActivationKind::kIdentity ? 0 : 1);
  return stages * 2 * problem.elements() * SizeOf(problem.dtype);
}

SavedReport SavedReportOf(const Problem& problem, const Kernel& kernel, const Counters& predicted,
                          const DeviceSpec& device) {
  SavedReport saved{.predicted_dram_bytes = predicted.dram_bytes(),
                    .by_fusion = FusionBytes(problem)};
  saved.microseconds = DramMicroseconds({.dram_read_bytes = saved.by_fusion}, device);
  if (!absl::StartsWith(kernel.plan.strategy, "persistent")) return saved;
  const auto plan = PlanFor(kernel.key, device, "multi_pass");
  if (!plan.ok()) return saved;
  const Counters multi_pass = Predict(kernel.key, *plan, ExtentsOf(problem), device);
  saved.by_persistence = multi_pass.dram_bytes() - predicted.dram_bytes();
  saved.microseconds +=
      EstimateMicroseconds(multi_pass, device) - EstimateMicroseconds(predicted, device);
  return saved;
}

}  // namespace

void ReportKernel(const Problem& problem, const Kernel& kernel, bool first_use,
                  const Device& device, RunReport& report) {
  const Extents extents = ExtentsOf(problem);
  const Counters predicted = Predict(kernel.key, kernel.plan, extents, device.spec());
  report.plan = PlanReportOf(kernel, extents);
  const bool found_loaded = !first_use && kernel.tier != Tier::kOff;
  report.cache = found_loaded ? Tier::kMemory : kernel.tier;
  report.time = TimeReportOf(kernel, first_use);
  report.time->predicted_us = EstimateMicroseconds(predicted, device.spec());
  report.bound = BoundReport{.dram_us = DramMicroseconds(predicted, device.spec()),
                             .l2_us = L2Microseconds(predicted, device.spec())};
  if (device.simulated()) {
    report.traffic = TrafficReport{.minimum_bytes = MinimumBytes(problem),
                                   .predicted_dram_bytes = predicted.dram_bytes()};
  }
  report.saved = SavedReportOf(problem, kernel, predicted, device.spec());
}

void ReportNothingLaunched(const Problem& problem, RunReport& report) {
  report.cache = Tier::kNone;
  report.time = TimeReport{.predicted_us = 0.0};
  report.traffic = TrafficReport{.minimum_bytes = MinimumBytes(problem)};
  report.bound =
      BoundReport{.dram_us = 0.0, .l2_us = 0.0, .pipe_us = 0.0, .bytes_in_flight_per_sm = 0};
}

void ReportMeasurement(const Measurement& measurement, const DeviceSpec& device,
                       RunReport& report) {
  report.time->launch_us = measurement.microseconds;
  report.sanitizer->findings = measurement.findings;
  if (!measurement.counters.has_value() || !report.traffic.has_value()) return;
  const Counters& counted = *measurement.counters;
  TrafficReport& traffic = *report.traffic;
  traffic.dram_read_bytes = counted.dram_read_bytes;
  traffic.dram_write_bytes = counted.dram_write_bytes;
  if (traffic.minimum_bytes > 0) {
    traffic.ratio =
        static_cast<double>(traffic.dram_bytes()) / static_cast<double>(traffic.minimum_bytes);
  }
  traffic.l2_bytes = counted.l2_bytes;
  if (counted.sectors_requested > 0) {
    traffic.sector_efficiency = static_cast<double>(counted.useful_bytes) /
                                static_cast<double>(kSectorBytes * counted.sectors_requested);
  }
  traffic.bank_conflicts = counted.bank_conflicts;
  traffic.warp_instructions = counted.warp_instructions;
  report.bound->dram_us = DramMicroseconds(counted, device);
  report.bound->l2_us = L2Microseconds(counted, device);
  report.bound->pipe_us = counted.pipe_us;
  report.bound->bytes_in_flight_per_sm = counted.bytes_in_flight_per_sm;
}

std::string DescribeMismatch(const CheckReport& check) {
  const auto worst = std::find_if(check.outputs.begin(), check.outputs.end(),
                                  [](const auto& output) { return !output.second.ok; });
  if (worst == check.outputs.end()) return "";
  const OutputCheck& output = worst->second;
  std::string text =
      absl::StrCat(worst->first, ": ", output.mismatches, " elements are wrong, the worst at [",
                   absl::StrJoin(output.worst_index, ","), "]");
  if (output.worst_error.has_value()) {
    absl::StrAppend(&text, " by ", *output.worst_error, " where ", output.tolerance, " is allowed");
  }
  return text;
}

}  // namespace onepass
