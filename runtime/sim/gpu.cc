#include "runtime/sim/gpu.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <new>
#include <set>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/block.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/grid.h"
#include "runtime/sim/l2.h"
#include "runtime/sim/program.h"
#include "runtime/sim/workers.h"

namespace onepass::sim {
namespace {

constexpr uint32_t kMaxBlockThreads = 1024;
constexpr int64_t kReservedSharedBytes = 1024;  // of each resident block
constexpr int64_t kSharedGap = 1024;            // a multiple of every alignment that there is
constexpr size_t kLogRuns = 4 << 20;            // of all resident blocks together

using Bytes = std::unique_ptr<uint8_t[], AlignedDelete>;

Bytes AlignedBytes(int64_t size) {
  return Bytes(static_cast<uint8_t*>(::operator new[](size + 64, std::align_val_t(64))));
}

template <class T>
void FillRow(uint8_t* row, T value) {
  T* lanes = reinterpret_cast<T*>(row);
  std::fill_n(lanes, 32, value);
}

uint64_t ParameterValue(const Constant& constant, absl::Span<const uint8_t> parameters) {
  const int bits = BitsOf(constant.type);
  uint64_t value = 0;
  std::memcpy(&value, parameters.data() + constant.bits, bits / 8);
  if (IsSigned(constant.type) && bits < 64 && (value >> (bits - 1) & 1) != 0) {
    value |= ~uint64_t{0} << bits;
  }
  return value;
}

// The cluster that the launch asks for, or else the kernel itself.
std::array<uint32_t, 3> ClusterOf(const Entry& entry, const LaunchShape& shape) {
  const bool by_kernel = entry.required_cluster[0] != 0;
  std::array<uint32_t, 3> cluster;
  std::copy_n(by_kernel ? entry.required_cluster : shape.cluster, 3, cluster.begin());
  return cluster;
}

absl::Status CheckCluster(const Machine& machine, const Entry& entry, const LaunchShape& shape) {
  const std::array<uint32_t, 3> cluster = ClusterOf(entry, shape);
  uint64_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    blocks *= cluster[i];
    if (shape.cluster[i] != 1 && shape.cluster[i] != cluster[i]) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: cluster axis %d is %u, .reqnctapercluster is %u", entry.name, i,
                          shape.cluster[i], cluster[i]));
    }
    if (cluster[i] == 0 || blocks > 65536 || shape.grid[i] % cluster[i] != 0) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: grid axis %d is %u, no multiple of the cluster's %u", entry.name, i,
                          shape.grid[i], cluster[i]));
    }
  }
  if (blocks > static_cast<uint64_t>(machine.max_cluster_blocks)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: clusters of %d blocks, %s has at most %d", entry.name, blocks,
                        machine.name, machine.max_cluster_blocks));
  }
  return absl::OkStatus();
}

}  // namespace

class Gpu::State {
 public:
  State(Machine machine, GpuOptions options)
      : machine_(std::move(machine)),
        options_(options),
        memory_(machine_.global_bytes, options.sanitize),
        l2_(machine_.l2_bytes),
        workers_(options.sanitize ? 1 : options.host_threads) {}

  absl::Status Check(const Module& module, const LaunchShape& shape, const Entry*& entry) const;
  absl::StatusOr<int> Resident(const Entry& entry, const LaunchShape& shape) const;
  absl::Status Load(const Module& module);
  void Unload(const Module& module);
  absl::Status Launch(const Module& module, const LaunchShape& shape,
                      absl::Span<const uint8_t> parameters);

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
  void PlaceShared(sim::Launch& launch) const;
  absl::Status CheckState(const sim::Launch& launch, uint64_t blocks) const;
  Bytes ConstantsOf(const sim::Launch& launch, const std::vector<uint64_t>& variables,
                    absl::Span<const uint8_t> parameters) const;

  Workers workers_;
  absl::flat_hash_map<uint64_t, std::vector<uint64_t>> variables_;  // addresses, by module
};

absl::Status Gpu::State::Check(const Module& module, const LaunchShape& shape,
                               const Entry*& entry) const {
  entry = module.FindEntry(shape.entry);
  if (entry == nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat("no kernel '%s' in the module", shape.entry));
  }
  uint64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    const uint32_t most = i == 0 ? 0x7fffffffu : 65535u;
    if (shape.grid[i] == 0 || shape.grid[i] > most) {
      return absl::InvalidArgumentError(absl::StrFormat("%s: grid axis %d is %u, not in 1..%u",
                                                        entry->name, i, shape.grid[i], most));
    }
    if (shape.block[i] == 0 || shape.block[i] > (i == 2 ? 64u : kMaxBlockThreads)) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: block axis %d is %u", entry->name, i, shape.block[i]));
    }
    threads *= shape.block[i];
    if (entry->required_threads[0] != 0 && entry->required_threads[i] != shape.block[i]) {
      return absl::InvalidArgumentError(absl::StrFormat("%s: block axis %d is %u, .reqntid is %u",
                                                        entry->name, i, shape.block[i],
                                                        entry->required_threads[i]));
    }
  }
  const uint32_t most = entry->max_threads == 0 ? kMaxBlockThreads : entry->max_threads;
  if (threads > std::min(most, kMaxBlockThreads)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %d threads a block, at most %d are allowed", entry->name, threads,
                        std::min(most, kMaxBlockThreads)));
  }
  const absl::Status cluster = CheckCluster(machine_, *entry, shape);
  if (!cluster.ok()) return cluster;
  const int64_t most_dynamic = machine_.shared_bytes_per_block - entry->static_shared_bytes;
  if (shape.dynamic_shared_bytes < 0 || shape.dynamic_shared_bytes > most_dynamic) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: %d and %d bytes of static and dynamic shared memory a block, %s has %d", entry->name,
        entry->static_shared_bytes, shape.dynamic_shared_bytes, machine_.name,
        machine_.shared_bytes_per_block));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> Gpu::State::Resident(const Entry& entry, const LaunchShape& shape) const {
  const int threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
  const int warps = (threads + 31) / 32;
  const int64_t registers =
      int64_t{7} +
      (shape.registers_per_thread > 0 ? shape.registers_per_thread : entry.register_estimate);
  // Registers are given to whole warps in units of 256.
  const int64_t by_registers =
      machine_.registers_per_sm / std::max<int64_t>(registers / 8 * 8 * 32 * warps, 1);
  if (by_registers == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %d threads of %d registers are more than an SM's %d registers",
                        entry.name, threads, registers - 7, machine_.registers_per_sm));
  }
  const int64_t shared =
      entry.static_shared_bytes + shape.dynamic_shared_bytes + kReservedSharedBytes;
  const int64_t by_shared = machine_.shared_bytes_per_sm / shared;
  const int64_t by_threads = machine_.max_threads_per_sm / (warps * 32);
  const int64_t resident = std::min<int64_t>(
      {by_registers, std::max<int64_t>(by_shared, 1), by_threads, machine_.max_blocks_per_sm});
  return static_cast<int>(std::max<int64_t>(resident, 1));
}

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

// Where the variables of shared memory begin. A checked launch leaves gaps between them, so that
// an index beyond one is not an element of the next.
void Gpu::State::PlaceShared(sim::Launch& launch) const {
  const Kernel& kernel = *launch.kernel;
  int64_t gaps = 0;
  for (const SharedVariable& variable : kernel.shared) {
    if (!variable.dynamic && variable.offset > 0 && options_.sanitize) gaps += kSharedGap;
    launch.shared_begin.push_back(variable.offset + gaps);
  }
  int64_t end = kernel.static_shared_bytes + gaps;
  if (options_.sanitize && end > 0 && launch.dynamic_shared_bytes > 0) end += kSharedGap;
  launch.dynamic_shared_start = (end + 127) / 128 * 128;
  launch.shared_bytes = launch.dynamic_shared_bytes > 0
                            ? launch.dynamic_shared_start + launch.dynamic_shared_bytes
                            : end;
  if (options_.sanitize) launch.shared_usable.Reset(launch.shared_bytes);
  for (size_t i = 0; i < kernel.shared.size(); ++i) {
    const SharedVariable& variable = kernel.shared[i];
    if (variable.dynamic) launch.shared_begin[i] = launch.dynamic_shared_start;
    if (options_.sanitize) launch.shared_usable.Add(launch.shared_begin[i], variable.bytes);
  }
  if (options_.sanitize) {
    launch.shared_usable.Add(launch.dynamic_shared_start, launch.dynamic_shared_bytes);
  }
}

// Whether the host can hold the state of so many blocks.
absl::Status Gpu::State::CheckState(const sim::Launch& launch, uint64_t blocks) const {
  const Kernel& kernel = *launch.kernel;
  const int64_t of_warp = kernel.register_bytes + 32 * kernel.local_bytes;
  const int64_t bytes =
      static_cast<int64_t>(blocks) * (of_warp * launch.warps + launch.shared_bytes);
  if (bytes <= options_.state_limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "%s: %d resident blocks of %d warps need %d MB for %d bytes of local memory a thread, "
      "registers and shared memory; %d MB are allowed",
      kernel.name, blocks, launch.warps, bytes >> 20, kernel.local_bytes,
      options_.state_limit >> 20));
}

Bytes Gpu::State::ConstantsOf(const sim::Launch& launch, const std::vector<uint64_t>& variables,
                              absl::Span<const uint8_t> parameters) const {
  const Kernel& kernel = *launch.kernel;
  Bytes rows = AlignedBytes(kernel.constant_bytes);
  for (const Constant& constant : kernel.constants) {
    uint64_t value = constant.bits;
    if (constant.kind == Constant::Kind::kVariable) value += variables[constant.index];
    if (constant.kind == Constant::Kind::kParameter) value = ParameterValue(constant, parameters);
    if (constant.kind == Constant::Kind::kDynamicShared) value += launch.dynamic_shared_start;
    if (constant.kind == Constant::Kind::kShared) {
      value += launch.shared_begin[constant.index] - kernel.shared[constant.index].offset;
    }
    uint8_t* row = rows.get() + constant.offset;
    if (constant.row == RowClass::k64) {
      FillRow<uint64_t>(row, value);
    } else if (constant.row == RowClass::k32) {
      FillRow<uint32_t>(row, static_cast<uint32_t>(value));
    } else {
      const uint32_t mask = static_cast<uint32_t>(value);
      std::memcpy(row, &mask, sizeof(mask));
    }
  }
  return rows;
}

void Gpu::State::RecordForms(const Kernel& kernel,
                             const std::vector<std::atomic<uint8_t>>& executed) {
  for (size_t i = 0; i < executed.size(); ++i) {
    if (executed[i] == 0 || kernel.origin_of[i] < 0) continue;
    forms_.emplace(FormOf(kernel.origins[kernel.origin_of[i]].text));
  }
}

absl::Status Gpu::State::Launch(const Module& module, const LaunchShape& shape,
                                absl::Span<const uint8_t> parameters) {
  const Entry* entry = nullptr;
  absl::Status status = Check(module, shape, entry);
  if (!status.ok()) return status;
  if (static_cast<int64_t>(parameters.size()) != entry->parameter_bytes) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: %d bytes of parameters, %d are expected",
                                                      entry->name, parameters.size(),
                                                      entry->parameter_bytes));
  }
  const auto per_sm = Resident(*entry, shape);
  if (!per_sm.ok()) return per_sm.status();
  const uint64_t blocks = uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  const std::array<uint32_t, 3> cluster = ClusterOf(*entry, shape);
  const uint32_t cluster_blocks = cluster[0] * cluster[1] * cluster[2];
  const int resident =
      *per_sm * machine_.sms / static_cast<int>(cluster_blocks) * static_cast<int>(cluster_blocks);
  if (resident == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: clusters of %d blocks, %s holds %d blocks", entry->name,
                        cluster_blocks, machine_.name, *per_sm * machine_.sms));
  }
  if (shape.cooperative && blocks > static_cast<uint64_t>(resident)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: a cooperative grid of %d blocks, %s holds %d (%d an SM)", entry->name,
                        blocks, machine_.name, resident, *per_sm));
  }
  status = Load(module);
  if (!status.ok()) return status;

  const Kernel& kernel = module.program().kernels[entry - module.entries().data()];
  sim::Launch launch;
  launch.kernel = &kernel;
  launch.memory = &memory_;
  launch.seed = options_.seed;
  launch.approx_seed = options_.approx_seed;
  std::copy_n(shape.grid, 3, launch.grid);
  std::copy_n(shape.block, 3, launch.block);
  std::copy_n(cluster.begin(), 3, launch.cluster);
  launch.cluster_blocks = cluster_blocks;
  launch.has_clusters = entry->required_cluster[0] != 0 || cluster_blocks > 1;
  launch.printed = &printed_;
  launch.threads = shape.block[0] * shape.block[1] * shape.block[2];
  launch.warps = static_cast<int>((launch.threads + 31) / 32);
  launch.sms = machine_.sms;
  launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  launch.longest_turn = std::max<int64_t>(options_.instruction_limit, 1);
  PlaceShared(launch);
  status = CheckState(launch, std::min<uint64_t>(blocks, resident));
  if (!status.ok()) return status;
  launch.count_traffic = options_.count_traffic;
  const int64_t here = std::min<int64_t>((blocks + machine_.sms - 1) / machine_.sms, *per_sm);
  const int64_t shared_bytes = kernel.static_shared_bytes + shape.dynamic_shared_bytes;
  launch.l1_bytes = machine_.l1_bytes_per_sm - here * (shared_bytes + kReservedSharedBytes);
  launch.blocks_per_sm = static_cast<int>(here);
  launch.log_limit = std::max<size_t>(kLogRuns / std::min<uint64_t>(blocks, resident), 256);
  std::vector<uint8_t> packed(parameters.begin(), parameters.end());
  launch.parameters = packed.data();
  const Bytes constants = ConstantsOf(launch, variables_[module.id()], parameters);
  launch.constants = constants.get();
  Checker checker(memory_, findings_);
  if (options_.sanitize) launch.checker = &checker;
  std::vector<std::atomic<uint8_t>> executed(options_.record_forms ? kernel.ops.size() : 0);
  if (options_.record_forms) launch.executed = executed.data();
  ++counts_.launches;
  const int64_t conflicts = counts_.bank_conflicts;
  Grid running(launch, blocks, resident, options_.instruction_limit, workers_, l2_);
  status = running.Run(counts_);
  RecordForms(kernel, executed);
  if (launch.count_traffic) {
    const std::vector<OpTally> tally = running.TakeTally();
    const std::vector<Slots> slots = SlotsOf(kernel, machine_.arch);
    const TalliedLaunch tallied{kernel, slots, tally, blocks, here * launch.warps};
    AddPipes(tallied, machine_, counts_.bank_conflicts - conflicts, counts_);
    AddBytesInFlight(tallied, counts_);
  }
  if (!status.ok()) {
    findings_.Add(running.fault_kind(), kernel.name, findings_.faults++, 0,
                  [&] { return std::string(status.message()); });
  }
  return status;
}

Gpu::Gpu(Machine machine, GpuOptions options)
    : state_(std::make_unique<State>(std::move(machine), options)) {}
Gpu::~Gpu() = default;

const Machine& Gpu::machine() const { return state_->machine_; }
GlobalMemory& Gpu::memory() { return state_->memory_; }

absl::Status Gpu::Launch(const Module& module, const LaunchShape& shape,
                         absl::Span<const uint8_t> parameters) {
  return state_->Launch(module, shape, parameters);
}

void Gpu::Unload(const Module& module) { state_->Unload(module); }

absl::StatusOr<int> Gpu::MaxResidentBlocksPerSm(const Module& module,
                                                const LaunchShape& shape) const {
  const Entry* entry = nullptr;
  const absl::Status status = state_->Check(module, shape, entry);
  if (!status.ok()) return status;
  return state_->Resident(*entry, shape);
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
