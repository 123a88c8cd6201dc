#include "runtime/cli/planned.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "codegen/roles.h"
#include "runtime/cli/environment.h"
#include "runtime/device/registry.h"

namespace onepass::cli {
namespace {

// The chip that stands for an architecture.
struct ArchRow {
  absl::string_view arch;
  absl::string_view device;
};
constexpr ArchRow kArchs[] = {{"sm_80", "a100"}, {"sm_90", "h200"}, {"sm_100", "b200"}};

absl::StatusOr<PlannedDevice> DeviceOfArch(const std::string& arch) {
  for (const ArchRow& row : kArchs) {
    if (row.arch == arch)
      return PlannedDevice{absl::StrCat("sim:", row.device), *FindDevice(row.device)};
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--arch: '", arch, "' is none of sm_80, sm_90, sm_100"));
}

}  // namespace

absl::StatusOr<PlannedDevice> ReadPlannedDevice(const Arguments& arguments) {
  if (arguments.Has("--arch") && arguments.Has("--device")) {
    return absl::InvalidArgumentError("--arch: stands for a device, and --device names another");
  }
  if (arguments.Has("--arch")) return DeviceOfArch(arguments.Get("--arch"));
  const auto device = OpenDevice(DeviceName(arguments));
  if (!device.ok()) return DeviceError(device.status(), arguments);
  return PlannedDevice{(*device)->name(), (*device)->spec()};
}

absl::StatusOr<Key> PlannedKey(const Problem& problem) {
  if (absl::Status covered = KeyCovers(problem); !covered.ok()) return covered;
  constexpr DeviceAddress kAllocated = 256;
  Buffers buffers;
  for (const TensorSpec& spec : TensorsOf(problem)) {
    buffers[spec.role] = kAllocated + static_cast<DeviceAddress>(OffsetOf(problem, spec.dtype));
  }
  return KeyOf(problem, AlignmentOf(problem, buffers));
}

}  // namespace onepass::cli
