#include "bench/machine.h"

#include <cstdlib>
#include <fstream>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"

namespace onepass::bench {
namespace {

// What stands behind `key:` in a file of such lines; "" where there is none.
std::string ValueOf(const char* path, absl::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    absl::string_view rest = line;
    if (!absl::ConsumePrefix(&rest, key)) continue;
    rest = absl::StripLeadingAsciiWhitespace(rest);
    if (absl::ConsumePrefix(&rest, ":")) return std::string(absl::StripAsciiWhitespace(rest));
  }
  return "";
}

std::optional<int64_t> StatusBytes(absl::string_view key) {
  const std::string value = ValueOf("/proc/self/status", key);
  int64_t kilobytes = 0;
  if (!absl::SimpleAtoi(absl::StripSuffix(value, " kB"), &kilobytes)) return std::nullopt;
  return kilobytes * 1024;
}

}  // namespace

std::string DescribeMachine() {
  std::string processor = ValueOf("/proc/cpuinfo", "model name");
  if (processor.empty()) processor = "unknown processor";
  double load = 0;
  (void)getloadavg(&load, 1);
  return absl::StrFormat("%s, %d cores, load %.2f", processor, std::thread::hardware_concurrency(),
                         load);
}

void StartPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }
std::optional<int64_t> PeakBytes() { return StatusBytes("VmHWM"); }
std::optional<int64_t> ResidentBytes() { return StatusBytes("VmRSS"); }

}  // namespace onepass::bench
