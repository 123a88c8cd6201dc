#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/measurements.h"
#include "bench/median.h"
#include "bench/null_device.h"
#include "cache/memory_store.h"
#include "onepass/onepass.h"
#include "runtime/api_handles.h"
#include "runtime/engine.h"

namespace onepass::bench {
namespace {

constexpr double kLimitNs = 1000;
// A workspace on a device that touches none.
constexpr Workspace kUntouched = {.address = 256, .bytes = int64_t{1} << 40};

// A problem ready to be run over and over on a NullDevice, by both interfaces.
class WarmProblem {
 public:
  WarmProblem(const Bench& bench, const Subject& subject)
      : handle_(subject.problem), buffers_(AddressesFor(subject.problem)) {
    public_engine_.device = device_.get();
    StartEngine(bench, subject);
    for (const TensorSpec& spec : handle_.places.specs()) addresses_.push_back(buffers_[spec.role]);
    launch_ = {addresses_.data(), addresses_.size(), kUntouched.address, kUntouched.bytes, nullptr};
  }

  bool RunPublic() { return onepass_run(&public_engine_, &handle_, &launch_) == ONEPASS_OK; }
  bool RunEngine() { return engine_->Run(handle_.problem, buffers_, kUntouched, 0).ok(); }
  // What even an engine that knows everything has to do.
  bool RunBare() {
    const KernelLaunch launch = {.module = nullptr, .shape = {}, .arguments = {}};
    return device_->Launch(launch, 0).ok();
  }

  // A new engine, with nothing loaded, over the kernels that the one before compiled.
  void StartEngine(const Bench& bench, const Subject& subject) {
    EngineOptions options;
    options.strategy = subject.strategy;
    engine_ = std::make_unique<Engine>(*device_, store_, bench.nvrtc, options);
    public_engine_.engine = engine_.get();
  }

 private:
  const std::unique_ptr<Device> device_ = NewNullDevice();
  cache::MemoryStore store_;
  const onepass_problem handle_;
  const Buffers buffers_;
  std::unique_ptr<Engine> engine_;
  onepass_engine public_engine_;
  std::vector<uint64_t> addresses_;
  onepass_launch launch_;
};

void MeasureHit(WarmProblem& warm, const Subject& subject, Figures& figures) {
  const Work works[] = {
      [&](int calls) {
        while (calls-- > 0) warm.RunPublic();
      },
      [&](int calls) {
        while (calls-- > 0) warm.RunEngine();
      },
      [&](int calls) {
        while (calls-- > 0) warm.RunBare();
      },
  };
  const std::vector<double> ns = MedianNanoseconds(works, 201, 1000);
  constexpr char kGroup[] = "loaded kernel: from the call to the device's launch";
  figures.Add({kGroup, absl::StrCat("onepass_run, ", subject.name()), ns[0], "ns", kLimitNs});
  figures.Add({kGroup, absl::StrCat("Engine::Run, ", subject.name()), ns[1], "ns", kLimitNs});
  figures.Add({kGroup, "  a bare Device::Launch", ns[2], "ns"});
}

// The second request alone, with the processor's predictors and caches as the first one left them.
void MeasureSecond(WarmProblem& warm, const Bench& bench, const Subject& subject,
                   Figures& figures) {
  std::vector<double> ns;
  for (int round = 0; round < 51; ++round) {
    warm.StartEngine(bench, subject);
    warm.RunPublic();
    const auto start = Clock::now();
    warm.RunPublic();
    ns.push_back(Nanoseconds(Clock::now() - start));
  }
  figures.Add({"second request of a kernel, once", absl::StrCat("onepass_run, ", subject.name()),
               MedianOf(ns), "ns"});
}

}  // namespace

void MeasureLaunchPath(const Bench& bench, Figures& figures) {
  for (const Subject& subject : Subjects()) {
    WarmProblem warm(bench, subject);
    if (!warm.RunPublic()) {
      figures.Note(absl::StrCat(subject.name(), ": ", onepass_last_error()));
      continue;
    }
    MeasureHit(warm, subject, figures);
  }
  for (const Subject& subject : Subjects()) {
    WarmProblem warm(bench, subject);
    if (warm.RunPublic()) MeasureSecond(warm, bench, subject, figures);
  }
}

}  // namespace onepass::bench
