// SimulatedCase: what the end-to-end tests share: lines of case files run on simulated GPUs, single
// plans launched without an engine, and tensors compared whatever their memory order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "cache/digest.h"
#include "codegen/emit.h"
#include "codegen/strategy.h"
#include "codegen/validate.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/case_run.h"
#include "runtime/device/registry.h"
#include "runtime/device_tensors.h"
#include "runtime/launch_arguments.h"
#include "runtime/reference/element.h"
#include "runtime/session.h"

namespace onepass {

// The environment, with a cache folder of the tests' own: a second run of the tests compiles
// nothing.
inline Options TestOptions() {
  Options options = OptionsFromEnvironment();
  options.cache_dir = ONEPASS_BINARY_DIR "/test-cache";
  return options;
}

// One session a device for the whole program, "sim:h200".
inline Session& SessionOn(const std::string& device) {
  static absl::Mutex mutex;
  static auto* const sessions = new std::map<std::string, std::unique_ptr<Session>>;
  absl::MutexLock lock(&mutex);
  std::unique_ptr<Session>& session = (*sessions)[device];
  if (session == nullptr) {
    Session::Settings settings;
    settings.device = device;
    settings.environment = TestOptions();
    auto opened = Session::Open(settings);
    if (!opened.ok()) {
      std::fprintf(stderr, "%s: %s\n", device.c_str(), opened.status().ToString().c_str());
      std::abort();
    }
    session = *std::move(opened);
  }
  return *session;
}

inline const Nvrtc& TheNvrtc() {
  static const std::shared_ptr<Nvrtc> nvrtc = *Nvrtc::Load(TestOptions().toolkit);
  return *nvrtc;
}

// Parsed and valid, otherwise the test fails and goes on with an empty problem.
inline Problem ProblemOf(absl::string_view line) {
  absl::StatusOr<Problem> problem = ParseProblem(line);
  const absl::Status status = problem.ok() ? Validate(*problem) : problem.status();
  EXPECT_TRUE(status.ok()) << line << ": " << status;
  if (status.ok()) return *std::move(problem);
  Problem empty;
  empty.dims = {0};
  return empty;
}

inline DataSpec DataOf(absl::string_view text) { return *ParseDataSpec(text); }

// Case options for a strategy ("" is free choice) and data.
inline CaseOptions OptionsFor(std::string strategy, absl::string_view data = "normal:0,1") {
  CaseOptions options;
  options.strategy = std::move(strategy);
  options.data = DataOf(data);
  return options;
}
inline CaseOptions Unchecked(CaseOptions options) {
  options.check = false;
  return options;
}

// The lines of a case file, without comments.
inline std::vector<std::string> CaseLines(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.is_open()) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    line.resize(std::min(line.size(), line.find('#')));
    absl::StripAsciiWhitespace(&line);
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

inline std::vector<std::string> SampleLines() {
  return CaseLines(ONEPASS_SOURCE_DIR "/tests/cases/norms_and_pointwise.txt");
}

// Calls body(i) for i in [0, count) on two threads.
template <typename Body>
void OnTwoThreads(size_t count, Body body) {
  std::atomic<size_t> next = 0;
  const auto loop = [&] {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) body(i);
  };
  std::thread other(loop);
  loop();
  other.join();
}

// A tensor's role in inputs or outputs; null if there is none.
inline HostTensor* FindRole(std::vector<HostTensor>& tensors, Role role) {
  for (HostTensor& tensor : tensors) {
    if (tensor.spec.role == role) return &tensor;
  }
  return nullptr;
}
inline const HostTensor* FindRole(const std::vector<HostTensor>& tensors, Role role) {
  return FindRole(const_cast<std::vector<HostTensor>&>(tensors), role);
}

inline bool HasXDims(Role role) {
  return role == Role::kX || role == Role::kResidual || role == Role::kY;
}

// The same logical elements in the memory order of `to`, element n of the first axis being the old
// element samples[n] where samples are given.
inline HostTensor Rearranged(const HostTensor& from, const TensorSpec& to,
                             llvm::ArrayRef<int64_t> samples = {}) {
  const size_t bytes = SizeOf(to.dtype);
  HostTensor result{to, std::vector<uint8_t>(SpanBytes(to))};
  Dims at(to.dims.size(), 0);
  for (int64_t i = 0; i < to.elements(); ++i) {
    int64_t source = 0, target = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const int64_t old = axis == 0 && !samples.empty() ? samples[at[0]] : at[axis];
      source += old * from.spec.strides[axis];
      target += at[axis] * to.strides[axis];
    }
    std::memcpy(result.bytes.data() + target * bytes, from.bytes.data() + source * bytes, bytes);
    for (int axis = static_cast<int>(at.size()) - 1; axis >= 0 && ++at[axis] == to.dims[axis];
         --axis) {
      at[axis] = 0;
    }
  }
  return result;
}

inline std::vector<double> ValuesOf(const HostTensor& tensor) {
  std::vector<double> values(tensor.spec.span_elements());
  LoadElements(tensor.spec.dtype, tensor.bytes.data(), 0, 1, static_cast<int64_t>(values.size()),
               values.data());
  return values;
}

// Rounded once.
inline void SetValues(const std::vector<double>& values, HostTensor& tensor) {
  StoreElements(tensor.spec.dtype, values.data(), static_cast<int64_t>(values.size()), 0, 1,
                tensor.bytes.data());
}

// Every output lies within CONTRACT's tolerance of what is right for these inputs.
inline void ExpectRight(const Problem& problem, const std::vector<HostTensor>& inputs,
                        const std::vector<HostTensor>& outputs) {
  const auto reference = Reference::Create(problem, inputs);
  ASSERT_TRUE(reference.ok()) << reference.status();
  for (const HostTensor& output : outputs) {
    const OutputCheck check = CheckOutput(problem, **reference, output);
    EXPECT_TRUE(check.ok) << ToString(problem) << ": " << output.spec.name() << " has "
                          << check.mismatches << " wrong elements, the worst by "
                          << check.max_abs_error.value_or(-1) << " where " << check.tolerance
                          << " is allowed";
  }
}

inline void ExpectSameBits(const std::vector<HostTensor>& got, const std::vector<HostTensor>& want,
                           absl::string_view where) {
  ASSERT_EQ(got.size(), want.size()) << where;
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].bytes == want[i].bytes, true) << where << ": " << got[i].spec.name();
  }
}

// A problem's tensors on a device, their inputs copied in and their outputs spoiled.
inline absl::StatusOr<DeviceTensors> TensorsOn(Device& device, const Problem& problem,
                                               const std::vector<HostTensor>& inputs) {
  auto tensors = DeviceTensors::Allocate(device, problem);
  if (!tensors.ok()) return tensors.status();
  absl::Status status = tensors->SpoilOutputs();
  status.Update(tensors->CopyIn(inputs));
  if (!status.ok()) return status;
  return tensors;
}

// The outputs of an engine's run, for engines that no session has.
inline absl::StatusOr<std::vector<HostTensor>> RunOn(Device& device, Engine& engine,
                                                     const Problem& problem,
                                                     const std::vector<HostTensor>& inputs) {
  auto tensors = TensorsOn(device, problem, inputs);
  if (!tensors.ok()) return tensors.status();
  const auto schedule = engine.ScheduleFor(problem, AlignmentOf(problem, tensors->buffers()));
  absl::Status status = schedule.status();
  if (status.ok()) status.Update(tensors->AllocateWorkspace(*schedule));
  if (status.ok())
    status.Update(engine.Run(problem, tensors->buffers(), tensors->workspace(), /*stream=*/0));
  if (!status.ok()) return status;
  return tensors->CopyOutputs();
}

// A kernel of any plan, also of one that no engine would choose.
class PlannedKernel {
 public:
  // Compiled binaries are kept in the session's store.
  static absl::StatusOr<PlannedKernel> Build(Session& session, Device& device, const Key& key,
                                             const Plan& plan) {
    PlannedKernel kernel(device, key, plan);
    const Source source = EmitSource(key, plan);
    const std::string arch = device.spec().arch();
    const std::string preimage =
        cache::PreimageOf({"a test's binary", source.text, TheNvrtc().version(), arch});
    const cache::Digest digest = cache::Digest::Of(preimage);
    absl::StatusOr<Binary> binary = absl::NotFoundError("");
    if (const auto hit = session.store().Get(digest, preimage)) binary = ParseBinary(hit->payload);
    if (!binary.ok()) {
      binary = TheNvrtc().Compile(source, arch);
      if (!binary.ok()) return binary.status();
      session.store().Put(digest, preimage, SerializeBinary(*binary));
    }
    auto module = device.Load(*binary, source.kernels);
    if (!module.ok()) return module.status();
    kernel.module_ = *std::move(module);
    return kernel;
  }

  // What one launch counts, on tensors whose contents do not matter: all bits are zero.
  absl::StatusOr<Counters> Count(const Problem& problem) {
    auto tensors = DeviceTensors::Allocate(*device_, problem);
    if (!tensors.ok()) return tensors.status();
    for (const TensorSpec& spec : TensorsOf(problem)) {
      if (spec.output) continue;
      absl::Status filled = device_->Fill(tensors->buffers()[spec.role], 0, SpanBytes(spec));
      if (!filled.ok()) return filled;
    }
    const Extents extents = ExtentsOf(problem);
    const Schedule schedule = ScheduleOf(key_, plan_, extents);
    absl::Status status = tensors->AllocateWorkspace(schedule);
    status.Update(device_->BeginMeasure(/*stream=*/0));
    const onepass_kernel::Arguments arguments =
        ArgumentsOf(tensors->buffers(), extents, plan_, tensors->workspace().address);
    const llvm::ArrayRef<uint8_t> block(reinterpret_cast<const uint8_t*>(&arguments),
                                        sizeof(arguments));
    for (const LaunchShape& shape : schedule.launches) {
      status.Update(device_->Launch({module_.get(), shape, block}, /*stream=*/0));
    }
    const auto measured = device_->EndMeasure(/*stream=*/0);
    status.Update(measured.status());
    if (!status.ok()) return status;
    return *measured->counters;
  }

 private:
  PlannedKernel(Device& device, const Key& key, const Plan& plan)
      : device_(&device), key_(key), plan_(plan) {}

  Device* device_;
  Key key_;
  Plan plan_;
  std::unique_ptr<LoadedModule> module_;
};

}  // namespace onepass
