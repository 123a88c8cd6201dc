#include "runtime/case_run.h"

#include <new>
#include <utility>

#include "absl/status/status.h"
#include "codegen/strategy.h"
#include "runtime/case_memory.h"
#include "runtime/device_tensors.h"
#include "runtime/exit_code.h"
#include "runtime/kernel_report.h"
#include "runtime/launch_time.h"

namespace onepass {
namespace {

class CaseRun {
 public:
  CaseRun(Session& session, const Problem& problem, const CaseOptions& options)
      : session_(session),
        problem_(problem),
        options_(options),
        engine_(session.EngineFor(options.strategy)) {
    RunReport& report = result_.report;
    report.problem = ToString(problem);
    report.device = ReportOf(session.device());
    report.sanitizer = SanitizerReport{.enabled = session.sanitizing()};
  }

  CaseResult Finish(const absl::Status& status) && {
    RunReport& report = result_.report;
    if (!status.ok()) {
      report.exit = ExitCodeOf(status, stage_);
      report.error = std::string(status.message());
    } else if (!report.sanitizer->findings.empty()) {
      report.exit = kExitCheckFailed;
      report.error = report.sanitizer->findings.front();
    } else if (report.check.has_value() && !report.check->ok) {
      report.exit = kExitCheckFailed;
      report.error = DescribeMismatch(*report.check);
    }
    return std::move(result_);
  }

  absl::Status Run(std::vector<HostTensor> given) {
    if (absl::Status s = CheckMemory(session_.device(), problem_); !s.ok()) return s;
    auto tensors = DeviceTensors::Allocate(session_.device(), problem_);
    if (!tensors.ok()) return tensors.status();
    if (absl::Status s = Prepare(*tensors); !s.ok()) return s;
    result_.inputs = GenerateInputs(problem_, options_.data, options_.seed, std::move(given));
    if (absl::Status s = tensors->CopyIn(result_.inputs); !s.ok()) return s;
    if (kernel_ != nullptr) {
      if (absl::Status s = Launch(*tensors); !s.ok()) return s;
    }
    if (result_.outputs.empty()) {
      if (absl::Status s = TakeOutputs(*tensors); !s.ok()) return s;
    }
    return options_.check ? Check() : absl::OkStatus();
  }

 private:
  // The kernel and what is known of it before it runs; no kernel for an empty problem.
  absl::Status Prepare(DeviceTensors& tensors) {
    stage_ = Stage::kBuild;
    const int alignment = AlignmentOf(problem_, tensors.buffers());
    auto kernel = engine_.Prepare(problem_, alignment);
    if (!kernel.ok()) return BuildError(kernel.status());
    kernel_ = *std::move(kernel);
    if (kernel_ == nullptr) {
      ReportNothingLaunched(problem_, result_.report);
      return absl::OkStatus();
    }
    ReportKernel(problem_, *kernel_, session_.FirstUseOf(kernel_), session_.device(),
                 result_.report);
    return tensors.AllocateWorkspace(
        kernel_->strategy->schedule(kernel_->key, kernel_->plan, ExtentsOf(problem_)));
  }

  // Where nothing can be compiled, why not is the news.
  absl::Status BuildError(const absl::Status& status) const {
    return absl::IsUnavailable(status) && !session_.compiler_status().ok()
               ? session_.compiler_status()
               : status;
  }

  absl::Status Launch(DeviceTensors& tensors) {
    Device& device = session_.device();
    // A checker that looks for uninitialised reads must see the outputs as they are allocated.
    if (!session_.sanitizing()) {
      if (absl::Status s = tensors.SpoilOutputs(); !s.ok()) return s;
    }
    stage_ = device.simulated() ? Stage::kSimulatedLaunch : Stage::kRealLaunch;
    absl::MutexLock lock(&session_.measuring());
    return device.simulated() ? LaunchCounted(tensors) : LaunchTimed(tensors);
  }

  absl::Status LaunchOnce(DeviceTensors& tensors) {
    return engine_.Launch(*kernel_, problem_, tensors.buffers(), tensors.workspace(), kStream);
  }

  // One launch with cold caches, which is what the planner predicts.
  absl::Status LaunchCounted(DeviceTensors& tensors) {
    Device& device = session_.device();
    if (absl::Status s = device.BeginMeasure(kStream); !s.ok()) return s;
    absl::Status status = LaunchOnce(tensors);
    status.Update(device.Synchronize(kStream));
    auto measured = device.EndMeasure(kStream);
    if (measured.ok()) ReportMeasurement(*measured, device.spec(), result_.report);
    status.Update(measured.status());
    return status;
  }

  // The results are the first launch's: those that are repeated for the clock go on from there
  // where a tensor is updated in place.
  absl::Status LaunchTimed(DeviceTensors& tensors) {
    Device& device = session_.device();
    absl::Status status = LaunchOnce(tensors);
    status.Update(device.Synchronize(kStream));
    if (status.ok()) status = TakeOutputs(tensors);
    if (!status.ok()) return status;
    const auto us = MicrosecondsOfLaunch(device, kStream, [&] { return LaunchOnce(tensors); });
    if (!us.ok()) return us.status();
    result_.report.time->launch_us = *us;
    return absl::OkStatus();
  }

  absl::Status TakeOutputs(const DeviceTensors& tensors) {
    auto outputs = tensors.CopyOutputs();
    if (!outputs.ok()) return outputs.status();
    result_.outputs = *std::move(outputs);
    return absl::OkStatus();
  }

  absl::Status Check() {
    stage_ = Stage::kRequest;
    CheckReport check;
    if (kernel_ != nullptr) {
      auto reference = Reference::Create(problem_, result_.inputs);
      if (!reference.ok()) return reference.status();
      for (const HostTensor& output : result_.outputs) {
        check.outputs.emplace_back(output.spec.name(), CheckOutput(problem_, **reference, output));
        check.ok = check.ok && check.outputs.back().second.ok;
      }
    }
    result_.report.check = std::move(check);
    return absl::OkStatus();
  }

  static constexpr Stream kStream = 0;

  Session& session_;
  const Problem& problem_;
  const CaseOptions& options_;
  Engine& engine_;
  std::shared_ptr<const Kernel> kernel_;
  Stage stage_ = Stage::kRequest;
  CaseResult result_;
};

}  // namespace

DeviceReport ReportOf(const Device& device) {
  return {.name = device.name(), .arch = device.spec().arch(), .simulated = device.simulated()};
}

RunReport FailedReport(std::string problem, const absl::Status& status) {
  RunReport report;
  report.problem = std::move(problem);
  report.exit = ExitCodeOf(status);
  report.error = std::string(status.message());
  return report;
}

CaseResult RunCase(Session& session, const Problem& problem, const CaseOptions& options,
                   std::vector<HostTensor> given) {
  CaseRun run(session, problem, options);
  absl::Status status;
  try {
    status = run.Run(std::move(given));
  } catch (const std::bad_alloc&) {
    // Other programs may have taken what CheckMemory saw.
    status = absl::ResourceExhaustedError("this machine's memory is used up");
  }
  return std::move(run).Finish(status);
}

}  // namespace onepass
