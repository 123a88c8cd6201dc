// The parts of a RunReport that come from a kernel and from its measured launch.
#pragma once

#include <string>

#include "codegen/problem.h"
#include "runtime/device/device.h"
#include "runtime/engine.h"
#include "runtime/run_report.h"

namespace onepass {

// Plan, cache tier, times, predicted traffic and bounds. `first_use`: the kernel was built or
// loaded for this case, not for an earlier one.
void ReportKernel(const Problem& problem, const Kernel& kernel, bool first_use,
                  const Device& device, RunReport& report);

// An empty problem: no plan, cache "none", no traffic.
void ReportNothingLaunched(const Problem& problem, RunReport& report);

// After ReportKernel: what was counted (simulated devices) or timed (real ones) takes the place of
// what was predicted.
void ReportMeasurement(const Measurement& measurement, const DeviceSpec& device, RunReport& report);

// "y: 3 elements out of tolerance, the worst at [0,1,2] by 1e-3": one line for a failed check.
std::string DescribeMismatch(const CheckReport& check);

}  // namespace onepass
