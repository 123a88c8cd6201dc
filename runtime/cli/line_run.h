// One problem line with its files: what `run` does once and `batch` for every line.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "codegen/problem.h"
#include "runtime/cli/case_flags.h"
#include "runtime/run_report.h"
#include "runtime/session.h"

namespace onepass::cli {

// Parses and validates.
absl::StatusOr<Problem> ReadProblem(const std::string& line);

// Reads --in, runs, writes --out. Every error is in the report.
RunReport RunProblem(Session& session, const Problem& problem, const CaseFlags& flags);

// ReadProblem and RunProblem.
RunReport RunLine(Session& session, const std::string& line, const CaseFlags& flags);

}  // namespace onepass::cli
