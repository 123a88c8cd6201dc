#include "codegen/emit.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "codegen/strategy.h"
#include "runtime/cli/case_flags.h"
#include "runtime/cli/command.h"
#include "runtime/cli/environment.h"
#include "runtime/cli/line_run.h"
#include "runtime/cli/planned.h"
#include "runtime/exit_code.h"
#include "runtime/new_files.h"
#include "runtime/nvrtc.h"

namespace onepass::cli {
namespace {

constexpr Flag kFlags[] = {
    {"--as", "KIND", "cuda|ptx|cubin"},
    {"--arch", "ARCH", "sm_80|sm_90|sm_100: plan for an A100, an H200 or a B200"},
    kDeviceFlag,
    kStrategyFlag,
    {"-o", "FILE", "write here instead of to standard output"}};

absl::StatusOr<std::string> Compiled(const Source& source, const DeviceSpec& device,
                                     absl::string_view kind) {
  const auto nvrtc = Nvrtc::Load(Environment().toolkit);
  if (!nvrtc.ok()) return nvrtc.status();
  auto binary = (*nvrtc)->Compile(source, device.arch());
  if (!binary.ok()) return binary.status();
  if (kind == "ptx") return std::move(binary->ptx);
  if (!binary->cubin.empty()) return std::string(binary->cubin.begin(), binary->cubin.end());
  return absl::UnimplementedError(
      absl::StrCat("--as cubin: this NVRTC makes no machine code for ", device.arch()));
}

absl::StatusOr<std::string> Emitted(const Arguments& arguments, const std::string& kind) {
  const auto problem = ReadProblem(arguments.Line());
  if (!problem.ok()) return problem.status();
  if (problem->elements() == 0) {
    return absl::UnimplementedError(
        absl::StrCat("x: ", ToString(*problem), " is empty and has no kernel"));
  }
  const auto device = ReadPlannedDevice(arguments);
  if (!device.ok()) return device.status();
  const auto key = PlannedKey(*problem);
  if (!key.ok()) return key.status();
  const auto plan = PlanFor(*key, device->spec, arguments.Get("--strategy"));
  if (!plan.ok()) return plan.status();
  Source source = EmitSource(*key, *plan);
  if (kind == "cuda") return std::move(source.text);
  return Compiled(source, device->spec, kind);
}

absl::Status Write(const std::string& text, const std::string& path) {
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return absl::OkStatus();
  }
  NewFiles files;
  absl::Status status = files.Write(path, {text});
  if (status.ok()) status = files.Commit();
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat("-o: ", status.message()));
}

int RunEmit(const Arguments& arguments) {
  if (arguments.words().empty()) return Complain("emit: no problem", kExitInvalid);
  const std::string kind = arguments.Get("--as");
  if (kind != "cuda" && kind != "ptx" && kind != "cubin") {
    return Complain(absl::StrCat("--as: '", kind, "' is none of cuda, ptx, cubin"), kExitInvalid);
  }
  const auto text = Emitted(arguments, kind);
  if (!text.ok())
    return Complain(text.status().message(), ExitCodeOf(text.status(), Stage::kBuild));
  const absl::Status written = Write(*text, arguments.Get("-o"));
  return written.ok() ? kExitOk : Complain(written);
}

}  // namespace

const Command kEmitCommand = {"emit", "PROBLEM",
                              "the CUDA source, PTX or machine code of a problem's kernel", kFlags,
                              RunEmit};

}  // namespace onepass::cli
