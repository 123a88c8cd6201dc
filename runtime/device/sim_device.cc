// The simulated GPU as a Device. The kernel's PTX is what runs; the cubin tells how many registers
// it takes.
#include <algorithm>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "runtime/device/registry.h"
#include "runtime/device/sim_machine.h"
#include "runtime/sim/gpu.h"

namespace onepass {
namespace {

Counters CountersOf(const sim::Counts& counts) {
  Counters counters;
  counters.dram_read_bytes = counts.dram_read_bytes;
  counters.dram_write_bytes = counts.dram_write_bytes;
  counters.l2_bytes = counts.l2_bytes();
  counters.warp_instructions = counts.warp_instructions;
  counters.launches = counts.launches;
  counters.sectors_requested = counts.sectors_requested;
  counters.useful_bytes = counts.useful_bytes;
  counters.bank_conflicts = counts.bank_conflicts;
  counters.pipe_us = counts.pipe_us();
  counters.bytes_in_flight_per_sm = counts.bytes_in_flight_per_sm();
  return counters;
}

struct SimModule final : LoadedModule {
  std::shared_ptr<const sim::Module> ptx;
  std::vector<std::string> kernels;
  std::vector<int> registers;  // of each kernel; 0 where no cubin says
};

class SimDevice final : public Device {
 public:
  SimDevice(const DeviceSpec& spec, const DeviceOptions& options)
      : name_(absl::StrCat("sim:", spec.name)),
        spec_(spec),
        gpu_(MachineOf(spec), {.seed = options.seed,
                               .approx_seed = options.approx_seed,
                               .host_threads = options.host_threads,
                               .sanitize = options.sanitize}) {}

  const std::string& name() const override { return name_; }
  const DeviceSpec& spec() const override { return spec_; }
  bool simulated() const override { return true; }

  absl::StatusOr<DeviceAddress> Allocate(const Allocation& a) override {
    absl::MutexLock lock(&mutex_);
    const int64_t alignment = a.offset == 0 ? 256 : 2 * a.offset;
    return gpu_.memory().Allocate(a.bytes, alignment, a.offset, a.label, a.element_bytes);
  }
  absl::Status Free(DeviceAddress address) override {
    absl::MutexLock lock(&mutex_);
    return gpu_.memory().Free(address);
  }
  absl::Status CopyIn(DeviceAddress to, llvm::ArrayRef<uint8_t> from) override {
    absl::MutexLock lock(&mutex_);
    return gpu_.memory().Write(to, from.data(), static_cast<int64_t>(from.size()));
  }
  absl::Status CopyOut(llvm::MutableArrayRef<uint8_t> to, DeviceAddress from) override {
    absl::MutexLock lock(&mutex_);
    return gpu_.memory().Read(from, to.data(), static_cast<int64_t>(to.size()));
  }
  absl::Status Fill(DeviceAddress address, uint8_t byte, int64_t bytes) override {
    absl::MutexLock lock(&mutex_);
    return gpu_.memory().Fill(address, byte, bytes);
  }

  absl::StatusOr<std::unique_ptr<LoadedModule>> Load(const Binary& binary,
                                                     llvm::ArrayRef<std::string> kernels) override {
    auto module = std::make_unique<SimModule>();
    auto parsed = sim::Module::Parse(binary.ptx);
    if (!parsed.ok()) return parsed.status();
    module->ptx = *std::move(parsed);
    for (const std::string& kernel : kernels) {
      const auto known = std::find_if(binary.resources.begin(), binary.resources.end(),
                                      [&](const KernelResources& r) { return r.name == kernel; });
      module->kernels.push_back(kernel);
      module->registers.push_back(known == binary.resources.end() ? 0 : known->registers);
    }
    return module;
  }

  absl::Status Launch(const KernelLaunch& launch, Stream) override {
    const auto& module = static_cast<const SimModule&>(*launch.module);
    sim::LaunchShape shape;
    shape.entry = module.kernels[launch.shape.kernel];
    std::copy(launch.shape.grid.begin(), launch.shape.grid.end(), shape.grid);
    std::copy(launch.shape.block.begin(), launch.shape.block.end(), shape.block);
    std::copy(launch.shape.cluster.begin(), launch.shape.cluster.end(), shape.cluster);
    shape.dynamic_shared_bytes = launch.shape.shared_bytes;
    shape.cooperative = launch.shape.cooperative;
    shape.registers_per_thread = module.registers[launch.shape.kernel];
    absl::MutexLock lock(&mutex_);
    return gpu_.Launch(*module.ptx, shape, launch.arguments);
  }
  absl::Status Synchronize(Stream) override { return absl::OkStatus(); }

  absl::Status BeginMeasure(Stream) override {
    absl::MutexLock lock(&mutex_);
    gpu_.TakeCounts();
    gpu_.TakeFindings();
    return absl::OkStatus();
  }
  absl::StatusOr<Measurement> EndMeasure(Stream) override {
    absl::MutexLock lock(&mutex_);
    Measurement measurement;
    measurement.counters = CountersOf(gpu_.TakeCounts());
    for (const sim::Finding& finding : gpu_.TakeFindings())
      measurement.findings.push_back(finding.message);
    return measurement;
  }

 private:
  const std::string name_;
  const DeviceSpec spec_;
  absl::Mutex mutex_;
  sim::Gpu gpu_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenSimDevice(const DeviceSpec& spec,
                                                      const DeviceOptions& options) {
  return std::make_unique<SimDevice>(spec, options);
}

}  // namespace onepass
