#include "tests/runtime/sim/fuzz/fuzz_target.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "runtime/sim/gpu.h"
#include "tests/runtime/sim/fuzz/fuzz_launch.h"

namespace onepass::sim {
namespace {

constexpr size_t kMostLaunches = 3;

uint64_t SeedOf(std::string_view ptx) {
  absl::string_view line(ptx.data(), std::min(ptx.find('\n'), ptx.size()));
  uint64_t seed = 0;
  if (absl::ConsumePrefix(&line, "//launch ") && absl::SimpleAtoi(line, &seed)) return seed;
  for (const char c : ptx) seed = (seed ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return seed;
}

void Require(const absl::Status& status, std::initializer_list<absl::StatusCode> named) {
  if (status.ok()) return;
  const bool code = std::find(named.begin(), named.end(), status.code()) != named.end();
  const bool line = !status.message().empty() && !absl::StrContains(status.message(), '\n');
  if (code && line) return;
  std::fprintf(stderr, "not a status of the contract: %s\n", status.ToString().c_str());
  std::abort();
}

}  // namespace

FuzzEnd RunFuzzInput(std::string_view ptx) {
  FuzzEnd end;
  const auto module = Module::Parse(ptx);
  end.parsed = module.status();
  Require(end.parsed, {absl::StatusCode::kInvalidArgument, absl::StatusCode::kUnimplemented});
  if (!module.ok()) return end;
  Random random(SeedOf(ptx), 0);
  const std::vector<Entry>& entries = (*module)->entries();
  const size_t first = entries.empty() ? 0 : random.Below(entries.size());
  for (size_t i = 0; i < std::min(entries.size(), kMostLaunches); ++i) {
    const Entry& entry = entries[(first + i) % entries.size()];
    const absl::Status status = LaunchAtRandom(**module, entry, random);
    Require(status, {absl::StatusCode::kInvalidArgument, absl::StatusCode::kOutOfRange,
                     absl::StatusCode::kAborted, absl::StatusCode::kResourceExhausted});
    ++end.launches;
    end.finished += status.ok();
  }
  return end;
}

}  // namespace onepass::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  onepass::sim::RunFuzzInput({reinterpret_cast<const char*>(data), size});
  return 0;
}
