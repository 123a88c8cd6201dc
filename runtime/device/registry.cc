#include "runtime/device/registry.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace onepass {
namespace {

std::string KnownNames() {
  std::string names = "auto, cuda, cuda:N";
  for (const DeviceSpec& device : KnownDevices()) absl::StrAppend(&names, ", sim:", device.name);
  return names;
}

absl::Status Unknown(absl::string_view name) {
  return absl::InvalidArgumentError(
      absl::StrCat("device: there is no \"", name, "\"; known are ", KnownNames()));
}

absl::StatusOr<std::unique_ptr<Device>> OpenSim(absl::string_view chip, absl::string_view name,
                                                const DeviceOptions& options) {
  const DeviceSpec* spec = FindDevice(chip);
  if (spec == nullptr) return Unknown(name);
  return OpenSimDevice(*spec, options);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(absl::string_view name,
                                                   const DeviceOptions& options) {
  absl::string_view rest = name;
  if (absl::ConsumePrefix(&rest, "sim:")) return OpenSim(rest, name, options);
  if (name == "auto") {
    auto device = OpenCudaDevice(0, options);
    if (device.ok() || !absl::IsUnavailable(device.status())) return device;
    return OpenSim("h200", name, options);
  }
  if (name == "cuda") return OpenCudaDevice(0, options);
  int ordinal = 0;
  if (absl::ConsumePrefix(&rest, "cuda:") && absl::SimpleAtoi(rest, &ordinal) && ordinal >= 0) {
    return OpenCudaDevice(ordinal, options);
  }
  return Unknown(name);
}

}  // namespace onepass
