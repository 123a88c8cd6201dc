// RunCase: one problem through the whole flow, from generated inputs to checked outputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/problem.h"
#include "runtime/reference/generate.h"
#include "runtime/reference/reference.h"
#include "runtime/run_report.h"
#include "runtime/session.h"

namespace onepass {

struct CaseOptions {
  std::string strategy;  // "" is free choice
  DataSpec data;         // of the inputs that are not given
  uint64_t seed = 0;
  bool check = true;  // against the reference
};

struct CaseResult {
  RunReport report;
  std::vector<HostTensor> inputs;   // as they were before the launch, in TensorsOf order
  std::vector<HostTensor> outputs;  // empty where the run ended before
};

// The problem must have passed Validate; `given` match their specs, the inputs that are missing are
// generated. Every error is in the report, with its exit code; memory that this machine does not
// have is one. Thread safe: cases of one session run at the same time, except for their measured
// launches.
CaseResult RunCase(Session& session, const Problem& problem, const CaseOptions& options,
                   std::vector<HostTensor> given = {});

// The report of a line that never came to a device.
RunReport FailedReport(std::string problem, const absl::Status& status);

DeviceReport ReportOf(const Device& device);

}  // namespace onepass
