#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measurements.h"
#include "bench/median.h"
#include "bench/null_device.h"
#include "cache/digest.h"
#include "cache/disk_store.h"
#include "cache/memory_store.h"
#include "runtime/device/registry.h"
#include "runtime/engine.h"

namespace onepass::bench {
namespace {

constexpr char kGroup[] = "first request of a kernel, up to its launch";

// The time of a first request, and how much of it NVRTC took.
struct Request {
  double ns = 0;
  double compile_ms = 0;
};

// A new engine's first request on a device that costs nothing.
std::optional<Request> FirstRequest(const Bench& bench, cache::Store& store,
                                    const Subject& subject) {
  const std::unique_ptr<Device> device = NewNullDevice();
  EngineOptions options;
  options.strategy = subject.strategy;
  Engine engine(*device, store, bench.nvrtc, options);
  const Buffers buffers = AddressesFor(subject.problem);
  const auto start = Clock::now();
  // Any address does for a workspace that nobody touches.
  const Workspace untouched = {.address = 256, .bytes = int64_t{1} << 40};
  if (!engine.Run(subject.problem, buffers, untouched, 0).ok()) return std::nullopt;
  const double ns = Nanoseconds(Clock::now() - start);
  return Request{ns, (*engine.Prepare(subject.problem, 16))->compile_ms};
}

void MeasureCold(const Bench& bench, const Subject& subject, Figures& figures) {
  constexpr double kLimit = 1.3;
  constexpr int kRounds = 5;
  std::vector<double> total, ratio;
  for (int round = 0; round < kRounds; ++round) {
    cache::DiskStore empty({.folder = absl::StrCat(bench.folder, "/cold")});
    empty.Clear();
    const auto request = FirstRequest(bench, empty, subject);
    if (!request.has_value()) return;
    total.push_back(request->ns * 1e-6);
    ratio.push_back(request->ns * 1e-6 / request->compile_ms);
  }
  figures.Add({kGroup, absl::StrCat("cold, ", subject.name()), MedianOf(total), "ms"});
  figures.Add({kGroup, "  over what NVRTC itself takes", MedianOf(ratio), "times", kLimit});
}

void MeasureFromStore(const Bench& bench, cache::Store& store, const Subject& subject,
                      Figures& figures) {
  constexpr int kRounds = 31;
  std::vector<double> us;
  for (int round = 0; round <= kRounds; ++round) {
    const auto request = FirstRequest(bench, store, subject);
    if (!request.has_value()) return;
    // The first one fills the store.
    if (round > 0) us.push_back(request->ns * 1e-3);
  }
  figures.Add(
      {kGroup, absl::StrCat("from ", store.name(), ", ", subject.name()), MedianOf(us), "us"});
}

// Reading an entry and taking it apart, without planning and emission.
void MeasureDiskHit(const Bench& bench, const Subject& subject, Figures& figures) {
  constexpr double kLimitUs = 1000;
  const auto compiled = bench.nvrtc->Compile(SourceFor(subject), "sm_90");
  if (!compiled.ok()) return;
  cache::DiskStore store({.folder = absl::StrCat(bench.folder, "/hit")});
  const std::string preimage = cache::PreimageOf({SourceFor(subject).text});
  const cache::Digest digest = cache::Digest::Of(preimage);
  const std::string payload = SerializeBinary(*compiled);
  store.Put(digest, preimage, payload);
  const Work hit = [&](int calls) {
    while (calls-- > 0) (void)ParseBinary(store.Get(digest, preimage)->payload).ok();
  };
  figures.Add({"disk hit (Get and ParseBinary)",
               absl::StrCat(subject.name(), ", ", payload.size() / 1024, " KB"),
               MedianNanoseconds({hit}, 51, 4)[0] * 1e-3, "us", kLimitUs});
}

}  // namespace

void MeasureFirstRequest(const Bench& bench, Figures& figures) {
  for (const Subject& subject : Subjects()) MeasureDiskHit(bench, subject, figures);
  for (const Subject& subject : Subjects()) MeasureCold(bench, subject, figures);
  cache::DiskStore disk({.folder = absl::StrCat(bench.folder, "/warm")});
  cache::MemoryStore memory;
  for (const Subject& subject : Subjects()) {
    MeasureFromStore(bench, disk, subject, figures);
    MeasureFromStore(bench, memory, subject, figures);
  }
}

}  // namespace onepass::bench
