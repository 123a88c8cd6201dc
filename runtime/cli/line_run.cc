#include "runtime/cli/line_run.h"

#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "codegen/roles.h"
#include "codegen/validate.h"
#include "runtime/case_memory.h"
#include "runtime/case_run.h"
#include "runtime/exit_code.h"
#include "runtime/new_files.h"
#include "runtime/npy.h"

namespace onepass::cli {
namespace {

std::string FileOf(const std::string& folder, const TensorSpec& spec) {
  return absl::StrCat(folder, "/", spec.name(), ".npy");
}

absl::StatusOr<std::vector<HostTensor>> ReadInputs(const Problem& problem,
                                                   const std::string& folder) {
  std::vector<HostTensor> given;
  if (folder.empty()) return given;
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return absl::InvalidArgumentError(absl::StrCat("--in: ", folder, " is no folder"));
  }
  for (const TensorSpec& spec : TensorsOf(problem)) {
    if (spec.output) continue;
    auto tensor = ReadNpy(FileOf(folder, spec), spec);
    if (absl::IsNotFound(tensor.status())) continue;
    if (!tensor.ok())
      return absl::Status(tensor.status().code(),
                          absl::StrCat("--in: ", tensor.status().message()));
    given.push_back(*std::move(tensor));
  }
  return given;
}

absl::Status WriteTensors(const CaseResult& result, const std::string& folder) {
  NewFiles files;
  for (const std::vector<HostTensor>* tensors : {&result.inputs, &result.outputs}) {
    for (const HostTensor& tensor : *tensors) {
      if (absl::Status s = WriteNpy(FileOf(folder, tensor.spec), tensor, files); !s.ok()) return s;
    }
  }
  return files.Commit();
}

// What ran has its own error and exit code; one in writing its files comes after those.
void NoteWriteError(const absl::Status& status, RunReport& report) {
  if (status.ok()) return;
  report.exit = WorstOf(report.exit, ExitCodeOf(status));
  if (!report.error.has_value()) report.error = absl::StrCat("--out: ", status.message());
}

RunReport NeverRan(const Session& session, const Problem& problem, const absl::Status& status) {
  RunReport report = FailedReport(ToString(problem), status);
  report.device = ReportOf(session.device());
  report.sanitizer = SanitizerReport{.enabled = session.sanitizing()};
  return report;
}

}  // namespace

absl::StatusOr<Problem> ReadProblem(const std::string& line) {
  absl::StatusOr<Problem> problem = ParseProblem(line);
  if (!problem.ok()) return problem.status();
  if (absl::Status s = Validate(*problem); !s.ok()) return s;
  return problem;
}

RunReport RunProblem(Session& session, const Problem& problem, const CaseFlags& flags) {
  if (absl::Status s = CheckMemory(session.device(), problem); !s.ok())
    return NeverRan(session, problem, s);
  auto given = ReadInputs(problem, flags.in);
  if (!given.ok()) return NeverRan(session, problem, given.status());
  if (!flags.out.empty()) {
    if (absl::Status s = MakeFolder(flags.out); !s.ok()) {
      return NeverRan(session, problem,
                      absl::Status(s.code(), absl::StrCat("--out: ", s.message())));
    }
  }
  CaseResult result = RunCase(session, problem, flags.options, *std::move(given));
  if (!flags.out.empty() && !result.outputs.empty()) {
    NoteWriteError(WriteTensors(result, flags.out), result.report);
  }
  return std::move(result.report);
}

RunReport RunLine(Session& session, const std::string& line, const CaseFlags& flags) {
  const absl::StatusOr<Problem> problem = ParseProblem(line);
  if (!problem.ok()) return FailedReport(line, problem.status());
  if (absl::Status s = Validate(*problem); !s.ok()) return FailedReport(ToString(*problem), s);
  return RunProblem(session, *problem, flags);
}

}  // namespace onepass::cli
