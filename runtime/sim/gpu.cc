#include "runtime/sim/gpu.h"

#include <algorithm>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/block.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/grid.h"
#include "runtime/sim/l2.h"
#include "runtime/sim/launch_limits.h"
#include "runtime/sim/launch_memory.h"
#include "runtime/sim/program.h"
#include "runtime/sim/workers.h"

namespace onepass::sim {
namespace {

constexpr size_t kLogRuns = 4 << 20;  // of all resident blocks together

}  // namespace

class Gpu::State {
 public:
  State(Machine machine, GpuOptions options)
      : machine_(std::move(machine)),
        options_(options),
        memory_(machine_.global_bytes, options.sanitize),
        l2_(machine_.l2_bytes),
        workers_(options.sanitize ? 1 : options.host_threads) {}

  absl::Status Load(const Module& module);
  void Unload(const Module& module);
  absl::Status Launch(const Module& module, const LaunchShape& shape,
                      llvm::ArrayRef<uint8_t> parameters);

  Machine machine_;
  GpuOptions options_;
  GlobalMemory memory_;
  L2 l2_;
  Counts counts_;
  Findings findings_;
  std::string printed_;
  std::set<std::string> forms_;

 private:
  void RecordForms(const Kernel& kernel, const std::vector<std::atomic<uint8_t>>& executed);
  sim::Launch Prepare(const Entry& entry, const Kernel& kernel, const LaunchShape& shape,
                      const Residence& residence);
  absl::Status Execute(sim::Launch& launch, int resident);

  Workers workers_;
  absl::flat_hash_map<uint64_t, std::vector<uint64_t>> variables_;  // addresses, by module
};

absl::Status Gpu::State::Load(const Module& module) {
  if (variables_.contains(module.id())) return absl::OkStatus();
  std::vector<uint64_t> addresses;
  for (const GlobalVariable& variable : module.program().variables) {
    const int64_t alignment = std::clamp<int64_t>(variable.alignment, 1, 4096);
    auto address =
        memory_.Allocate(variable.bytes, alignment, 0, variable.name, variable.element_bytes);
    if (!address.ok()) {
      for (const uint64_t allocated : addresses) (void)memory_.Free(allocated);
      return address.status();
    }
    addresses.push_back(*address);
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    const GlobalVariable& variable = module.program().variables[i];
    if (!variable.image.empty()) {
      (void)memory_.Write(addresses[i], variable.image.data(),
                          static_cast<int64_t>(variable.image.size()));
    }
    for (const auto& relocation : variable.relocations) {
      const uint64_t value =
          (addresses[relocation.variable] + relocation.addend) >> relocation.shift;
      (void)memory_.Write(addresses[i] + relocation.offset, &value, relocation.bytes);
    }
    if (variable.constant) memory_.SetReadOnly(addresses[i]);
    memory_.SetWritten(addresses[i]);
  }
  variables_[module.id()] = std::move(addresses);
  return absl::OkStatus();
}

void Gpu::State::Unload(const Module& module) {
  const auto loaded = variables_.find(module.id());
  if (loaded == variables_.end()) return;
  for (const uint64_t address : loaded->second) (void)memory_.Free(address);
  variables_.erase(loaded);
}

void Gpu::State::RecordForms(const Kernel& kernel,
                             const std::vector<std::atomic<uint8_t>>& executed) {
  for (size_t i = 0; i < executed.size(); ++i) {
    if (executed[i] == 0 || kernel.origin_of[i] < 0) continue;
    forms_.emplace(FormOf(kernel.origins[kernel.origin_of[i]].text));
  }
}

sim::Launch Gpu::State::Prepare(const Entry& entry, const Kernel& kernel, const LaunchShape& shape,
                                const Residence& residence) {
  sim::Launch launch;
  launch.kernel = &kernel;
  launch.memory = &memory_;
  launch.seed = options_.seed;
  launch.approx_seed = options_.approx_seed;
  std::copy_n(shape.grid, 3, launch.grid);
  std::copy_n(shape.block, 3, launch.block);
  std::copy_n(residence.cluster.begin(), 3, launch.cluster);
  launch.cluster_blocks = residence.cluster_blocks;
  launch.has_clusters = entry.required_cluster[0] != 0 || residence.cluster_blocks > 1;
  launch.printed = &printed_;
  launch.threads = shape.block[0] * shape.block[1] * shape.block[2];
  launch.warps = static_cast<int>((launch.threads + 31) / 32);
  launch.sms = machine_.sms;
  launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  launch.longest_turn = std::max<int64_t>(options_.instruction_limit, 1);
  launch.count_traffic = options_.count_traffic;
  const uint64_t blocks = shape.blocks();
  const int64_t here =
      std::min<int64_t>((blocks + machine_.sms - 1) / machine_.sms, residence.per_sm);
  const int64_t shared_bytes = kernel.static_shared_bytes + shape.dynamic_shared_bytes;
  launch.l1_bytes = machine_.l1_bytes_per_sm - here * (shared_bytes + kReservedSharedBytes);
  launch.blocks_per_sm = static_cast<int>(here);
  launch.log_limit = std::max<size_t>(kLogRuns / std::min<uint64_t>(blocks, residence.blocks), 256);
  PlaceShared(launch, options_.sanitize);
  return launch;
}

// Runs all blocks, `resident` at a time, and adds what they counted and found.
absl::Status Gpu::State::Execute(sim::Launch& launch, int resident) {
  const Kernel& kernel = *launch.kernel;
  const uint64_t blocks = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  Checker checker(memory_, findings_);
  if (options_.sanitize) launch.checker = &checker;
  std::vector<std::atomic<uint8_t>> executed(options_.record_forms ? kernel.ops.size() : 0);
  if (options_.record_forms) launch.executed = executed.data();
  ++counts_.launches;
  const int64_t conflicts = counts_.bank_conflicts;
  Grid running(launch, blocks, resident, options_.instruction_limit, workers_, l2_);
  const absl::Status status = running.Run(counts_);
  RecordForms(kernel, executed);
  if (launch.count_traffic) {
    const std::vector<OpTally> tally = running.TakeTally();
    const std::vector<Slots> slots = SlotsOf(kernel, machine_.arch);
    const int64_t warps = int64_t{launch.blocks_per_sm} * launch.warps;
    const TalliedLaunch tallied{kernel, slots, tally, blocks, warps};
    AddPipes(tallied, machine_, counts_.bank_conflicts - conflicts, counts_);
    AddBytesInFlight(tallied, counts_);
  }
  if (!status.ok()) {
    findings_.Add(running.fault_kind(), kernel.name, findings_.faults++, 0,
                  [&] { return std::string(status.message()); });
  }
  return status;
}

absl::Status Gpu::State::Launch(const Module& module, const LaunchShape& shape,
                                llvm::ArrayRef<uint8_t> parameters) {
  const auto entry = CheckShape(machine_, module, shape);
  if (!entry.ok()) return entry.status();
  if (static_cast<int64_t>(parameters.size()) != (*entry)->parameter_bytes) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: %d bytes of parameters, %d are expected",
                                                      (*entry)->name, parameters.size(),
                                                      (*entry)->parameter_bytes));
  }
  const auto residence = ResidenceOf(machine_, **entry, shape);
  if (!residence.ok()) return residence.status();
  if (absl::Status s = Load(module); !s.ok()) return s;

  const Kernel& kernel = module.program().kernels[*entry - module.entries().data()];
  sim::Launch launch = Prepare(**entry, kernel, shape, *residence);
  const uint64_t at_once = std::min<uint64_t>(shape.blocks(), residence->blocks);
  if (absl::Status s = CheckState(launch, at_once, options_.state_limit); !s.ok()) return s;
  std::vector<uint8_t> packed(parameters.begin(), parameters.end());
  launch.parameters = packed.data();
  const AlignedBytes constants = ConstantsOf(launch, variables_[module.id()], parameters);
  launch.constants = constants.get();
  return Execute(launch, residence->blocks);
}

Gpu::Gpu(Machine machine, GpuOptions options)
    : state_(std::make_unique<State>(std::move(machine), options)) {}
Gpu::~Gpu() = default;

const Machine& Gpu::machine() const { return state_->machine_; }
GlobalMemory& Gpu::memory() { return state_->memory_; }

absl::Status Gpu::Launch(const Module& module, const LaunchShape& shape,
                         llvm::ArrayRef<uint8_t> parameters) {
  return state_->Launch(module, shape, parameters);
}

void Gpu::Unload(const Module& module) { state_->Unload(module); }

absl::StatusOr<int> Gpu::MaxResidentBlocksPerSm(const Module& module,
                                                const LaunchShape& shape) const {
  const auto entry = CheckShape(state_->machine_, module, shape);
  if (!entry.ok()) return entry.status();
  return ResidentPerSm(state_->machine_, **entry, shape);
}

Counts Gpu::TakeCounts() {
  state_->l2_.Flush();
  Counts counts = std::exchange(state_->counts_, Counts());
  counts += std::exchange(state_->l2_.counts(), Counts());
  return counts;
}

void Gpu::DropCaches() { state_->l2_.Clear(); }

std::vector<Finding> Gpu::TakeFindings() { return state_->findings_.Take(); }

std::vector<std::string> Gpu::TakeForms() {
  const std::set<std::string> forms = std::exchange(state_->forms_, {});
  return {forms.begin(), forms.end()};
}

std::string Gpu::TakePrinted() { return std::exchange(state_->printed_, {}); }

}  // namespace onepass::sim
