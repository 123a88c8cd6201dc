// RunReport: everything that was seen while one problem went through, as a plain value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/plan.h"
#include "runtime/engine.h"
#include "runtime/reference/check.h"

namespace onepass {

struct DeviceReport {
  std::string name;  // "sim:h200"
  std::string arch;  // "sm_90"
  bool simulated = false;
};

struct LaunchReport {
  std::string kernel;
  LaunchShape shape;
  std::optional<int64_t> registers = {};  // of a thread
  std::optional<int64_t> spill_bytes = {};
};

struct PlanReport {
  std::string strategy;
  std::string geometry;
  std::string text;  // ToString(Plan)
  int64_t workspace_bytes = 0;
  std::vector<LaunchReport> launches = {};
};

struct TimeReport {
  std::optional<double> codegen_us = {}, compile_ms = {}, load_us = {};
  std::optional<double> launch_us = {};     // measured on a real device
  std::optional<double> predicted_us = {};  // by the time model
};

struct TrafficReport {
  int64_t dram_read_bytes = 0;
  int64_t dram_write_bytes = 0;
  int64_t minimum_bytes = 0;
  std::optional<double> ratio = {};  // DRAM bytes over the minimum
  int64_t l2_bytes = 0;
  std::optional<double> sector_efficiency = {};  // useful bytes over bytes of the sectors asked for
  int64_t bank_conflicts = 0;
  int64_t warp_instructions = 0;
  int64_t predicted_dram_bytes = 0;

  int64_t dram_bytes() const { return dram_read_bytes + dram_write_bytes; }
};

struct BoundReport {
  std::optional<double> dram_us = {}, l2_us = {}, pipe_us = {};
  std::optional<int64_t> bytes_in_flight_per_sm = {};
};

struct CheckReport {
  bool ok = true;
  std::vector<std::pair<std::string, OutputCheck>>
      outputs;  // by name, in the order of the role table
};

struct SanitizerReport {
  bool enabled = false;
  std::vector<std::string> findings = {};
};

// What this run did not cost, by the closed forms of the planner (for a batch's summary).
struct SavedReport {
  int64_t predicted_dram_bytes = 0;  // of this run
  // What multi_pass would move for the same problem, less this; 0 where the strategy is not a
  // persistent one.
  int64_t by_persistence = 0;
  // Each fused stage (residual, skip, activation) as a launch of its own would read and write one
  // more tensor of y's size.
  int64_t by_fusion = 0;
  double microseconds = 0;  // both, by the time model
};

struct RunReport {
  std::string problem;  // canonical; the line as it came where it cannot be parsed
  int exit = 0;
  std::optional<std::string> error;
  // Absent: not known, because the run ended before.
  std::optional<DeviceReport> device;
  std::optional<PlanReport> plan;
  std::optional<Tier> cache;
  std::optional<TimeReport> time;
  std::optional<TrafficReport> traffic;
  std::optional<BoundReport> bound;
  std::optional<CheckReport> check;
  std::optional<SanitizerReport> sanitizer;
  std::optional<SavedReport> saved;
  int64_t damaged_entries = 0;  // that this process found in the cache so far; each is made anew

  bool ok() const { return exit == 0; }
};

}  // namespace onepass
