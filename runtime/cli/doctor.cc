#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cache/disk_store.h"
#include "codegen/device_spec.h"
#include "runtime/cli/command.h"
#include "runtime/cli/environment.h"
#include "runtime/cli/onnx.h"
#include "runtime/cli/report_text.h"
#include "runtime/device/registry.h"
#include "runtime/exit_code.h"
#include "runtime/nvrtc.h"

namespace onepass::cli {
namespace {

void Row(absl::string_view name, absl::string_view text) {
  absl::PrintF("%-10s %s\n", name, OneLine(text));
}

// False where nothing can be compiled.
bool ReportCompiler(const Options& environment) {
  const auto nvrtc = Nvrtc::Load(environment.toolkit);
  if (!nvrtc.ok()) {
    Row("NVRTC", absl::StrCat("MISSING: ", nvrtc.status().message()));
    return false;
  }
  const std::vector<int>& archs = (*nvrtc)->SupportedArchs();
  Row("NVRTC", absl::StrCat((*nvrtc)->version(), ", ", (*nvrtc)->path()));
  if (!archs.empty())
    Row("", absl::StrCat("machine code for sm_", archs.front(), " to sm_", archs.back()));
  return true;
}

void ReportDevices() {
  int gpus = 0;
  for (;; ++gpus) {
    const auto device = OpenDevice(absl::StrCat("cuda:", gpus));
    if (!device.ok()) {
      if (gpus == 0)
        Row("GPU", absl::StrCat("none, so 'auto' is sim:h200: ", device.status().message()));
      break;
    }
    const DeviceSpec& spec = (*device)->spec();
    Row("GPU", absl::StrFormat("cuda:%d %s, %s, %d SMs, %.0f GB/s", gpus, spec.name, spec.arch(),
                               spec.sms, spec.dram_gbps));
  }
  Row("simulated",
      absl::StrJoin(KnownDevices(), ", ", [](std::string* out, const DeviceSpec& spec) {
        absl::StrAppend(out, "sim:", spec.name, " (", spec.arch(), ")");
      }));
}

void ReportCache(const Options& environment) {
  cache::DiskStore store(
      {.folder = environment.cache_dir, .limit_bytes = environment.cache_limit, .warn = {}});
  if (!store.usable().ok()) {
    Row("cache",
        absl::StrCat("NOT USABLE, kernels are kept in memory only: ", store.usable().message(),
                     "; ONEPASS_CACHE_DIR names another folder"));
    return;
  }
  const cache::Stats stats = store.GetStats();
  Row("cache", absl::StrFormat("%s: %d entries, %s of %s%s", environment.cache_dir, stats.entries,
                               BytesText(stats.bytes), BytesText(environment.cache_limit),
                               store.writable().ok() ? "" : "; READ ONLY"));
}

// What a command without --device will use.
absl::Status ReportDefault(const Arguments& arguments) {
  const auto device = OpenDevice(DeviceName(arguments));
  if (!device.ok()) return DeviceError(device.status(), arguments);
  Row("default", absl::StrCat(DeviceName(arguments), " is ", (*device)->name()));
  return absl::OkStatus();
}

int RunDoctor(const Arguments& arguments) {
  if (!arguments.words().empty()) return Complain("doctor takes no words", kExitInvalid);
  const Options& environment = Environment();
  Row("onepass", ONEPASS_VERSION);
  const bool can_compile = ReportCompiler(environment);
  ReportDevices();
  const absl::Status device = ReportDefault(arguments);
  ReportCache(environment);
  const std::string onnx = OnnxVersion();
  Row("ONNX", onnx.empty() ? "not in this static build" : onnx);
  if (!device.ok()) return Complain(device);
  return can_compile ? kExitOk : Complain("nothing can be compiled without NVRTC", kExitMissing);
}

}  // namespace

const Command kDoctorCommand = {
    "doctor", "", "what was found, what is missing, and what brings it", {}, RunDoctor};

}  // namespace onepass::cli
