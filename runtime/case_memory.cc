#include "runtime/case_memory.h"

#include <unistd.h>

#include <cstdint>

#include "absl/strings/str_format.h"
#include "runtime/device_tensors.h"

namespace onepass {
namespace {

double HostBytes() { return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE); }

absl::Status Compare(const Problem& problem, double wanted, double there,
                     const std::string& owner) {
  if (wanted <= there) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat("%s: needs %.1f GB of memory, %s has %.1f GB",
                                                      ToString(problem), wanted * 1e-9, owner,
                                                      there * 1e-9));
}

}  // namespace

absl::Status CheckMemory(const Device& device, const Problem& problem) {
  double bytes = 0;  // in double: the sum of sizes that fit 63 bits may not
  for (const TensorSpec& spec : TensorsOf(problem)) {
    if (!spec.shares.has_value()) bytes += static_cast<double>(SpanBytes(spec));
  }
  if (device.spec().global_bytes > 0) {
    const auto there = static_cast<double>(device.spec().global_bytes);
    if (absl::Status s = Compare(problem, bytes, there, device.name()); !s.ok()) return s;
  }
  // The host's copy, and the device's memory where that is simulated.
  return Compare(problem, bytes * (device.simulated() ? 2 : 1), HostBytes(), "this machine");
}

}  // namespace onepass
