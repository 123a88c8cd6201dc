#include "runtime/sim/launch_limits.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace onepass::sim {
namespace {

constexpr uint32_t kMaxBlockThreads = 1024;

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

absl::StatusOr<const Entry*> CheckShape(const Machine& machine, const Module& module,
                                        const LaunchShape& shape) {
  const Entry* entry = module.FindEntry(shape.entry);
  if (entry != nullptr && !entry->supported.ok()) return entry->supported;
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
  const absl::Status cluster = CheckCluster(machine, *entry, shape);
  if (!cluster.ok()) return cluster;
  const int64_t most_dynamic = machine.shared_bytes_per_block - entry->static_shared_bytes;
  if (shape.dynamic_shared_bytes < 0 || shape.dynamic_shared_bytes > most_dynamic) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: %d and %d bytes of static and dynamic shared memory a block, %s has %d", entry->name,
        entry->static_shared_bytes, shape.dynamic_shared_bytes, machine.name,
        machine.shared_bytes_per_block));
  }
  return entry;
}

absl::StatusOr<int> ResidentPerSm(const Machine& machine, const Entry& entry,
                                  const LaunchShape& shape) {
  const int threads = static_cast<int>(shape.block[0] * shape.block[1] * shape.block[2]);
  const int warps = (threads + 31) / 32;
  const int64_t registers =
      int64_t{7} +
      (shape.registers_per_thread > 0 ? shape.registers_per_thread : entry.register_estimate);
  // Registers are given to whole warps in units of 256.
  const int64_t by_registers =
      machine.registers_per_sm / std::max<int64_t>(registers / 8 * 8 * 32 * warps, 1);
  if (by_registers == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %d threads of %d registers are more than an SM's %d registers",
                        entry.name, threads, registers - 7, machine.registers_per_sm));
  }
  const int64_t shared =
      entry.static_shared_bytes + shape.dynamic_shared_bytes + kReservedSharedBytes;
  const int64_t by_shared = machine.shared_bytes_per_sm / shared;
  const int64_t by_threads = machine.max_threads_per_sm / (warps * 32);
  const int64_t resident = std::min<int64_t>(
      {by_registers, std::max<int64_t>(by_shared, 1), by_threads, machine.max_blocks_per_sm});
  return static_cast<int>(std::max<int64_t>(resident, 1));
}

absl::StatusOr<Residence> ResidenceOf(const Machine& machine, const Entry& entry,
                                      const LaunchShape& shape) {
  const auto per_sm = ResidentPerSm(machine, entry, shape);
  if (!per_sm.ok()) return per_sm.status();
  Residence residence{.cluster = ClusterOf(entry, shape), .per_sm = *per_sm};
  for (const uint32_t axis : residence.cluster) residence.cluster_blocks *= axis;
  const int cluster_blocks = static_cast<int>(residence.cluster_blocks);
  residence.blocks = *per_sm * machine.sms / cluster_blocks * cluster_blocks;
  if (residence.blocks == 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: clusters of %d blocks, %s holds %d blocks", entry.name, cluster_blocks,
                        machine.name, *per_sm * machine.sms));
  }
  const uint64_t blocks = shape.blocks();
  if (shape.cooperative && blocks > static_cast<uint64_t>(residence.blocks)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: a cooperative grid of %d blocks, %s holds %d (%d an SM)", entry.name,
                        blocks, machine.name, residence.blocks, *per_sm));
  }
  return residence;
}

}  // namespace onepass::sim
