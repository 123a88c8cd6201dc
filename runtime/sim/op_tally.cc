#include "runtime/sim/op_tally.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"

namespace onepass::sim {
namespace {

constexpr int64_t Counts::*kSlots[kPipes] = {&Counts::issue_slots,   &Counts::alu_slots,
                                             &Counts::fma_slots,     &Counts::fp64_slots,
                                             &Counts::special_slots, &Counts::lsu_slots};

// The loads between two uses of what they bring.
class Batch {
 public:
  explicit Batch(int64_t warps) : warps_(warps) {}

  void Add(const Op& op, const OpUse& use, const OpTally& tally) {
    bytes_ += static_cast<double>(tally.loaded_bytes);
    times_ = std::max(times_, tally.executed);
    for (int i = 0; i < kMaxRefs; ++i) {
      if ((use.writes >> i & 1) != 0) registers_.insert(op.r[i]);
    }
  }
  bool IsReadBy(const Op& op, const OpUse& use) const {
    if (use.long_refs) return true;
    for (int i = 0; i < kMaxRefs; ++i) {
      if ((use.reads >> i & 1) != 0 && registers_.contains(op.r[i])) return true;
    }
    return false;
  }
  void Close(Counts& counts) {
    if (bytes_ > 0) {
      // A load at which the launch ended has brought bytes and was not executed.
      const auto times = static_cast<double>(std::max<uint64_t>(times_, 1));
      const double in_flight = bytes_ / times * static_cast<double>(warps_);
      counts.loaded_bytes += static_cast<int64_t>(bytes_);
      counts.loaded_in_flight += std::llround(bytes_ * in_flight);
    }
    bytes_ = 0;
    times_ = 0;
    registers_.clear();
  }

 private:
  const int64_t warps_;
  double bytes_ = 0;
  uint64_t times_ = 0;
  absl::flat_hash_set<RowRef> registers_;
};

bool WaitsForCopies(const Kernel& kernel, size_t op) {
  const int32_t origin = kernel.origin_of[op];
  if (origin < 0) return false;
  const std::string_view form = FormOf(kernel.origins[origin].text);
  return form.starts_with("cp.async.wait") || form.starts_with("mbarrier.t");
}

}  // namespace

void AddPipes(const TalliedLaunch& launch, const Machine& machine, int64_t bank_conflicts,
              Counts& counts) {
  int64_t slots[kPipes] = {};
  for (size_t i = 0; i < launch.tally.size(); ++i) {
    const auto executed = static_cast<int64_t>(launch.tally[i].executed);
    for (int pipe = 0; pipe < kPipes; ++pipe) slots[pipe] += executed * launch.slots[i].on[pipe];
  }
  slots[static_cast<int>(Pipe::kLsu)] += 100 * bank_conflicts;
  const auto sms = static_cast<double>(std::min<uint64_t>(launch.blocks, machine.sms));
  double clocks = 0;
  for (int pipe = 0; pipe < kPipes; ++pipe) {
    counts.*kSlots[pipe] += slots[pipe];
    const double lanes = LanesOf(machine, static_cast<Pipe>(pipe));
    clocks = std::max(clocks, static_cast<double>(slots[pipe]) / 100 * 32 / (lanes * sms));
  }
  counts.pipe_picoseconds += std::llround(clocks * 1000 / machine.clock_ghz);
}

void AddBytesInFlight(const TalliedLaunch& launch, Counts& counts) {
  const Kernel& kernel = launch.kernel;
  Batch batch(launch.warps_per_sm);
  for (size_t i = 0; i < kernel.ops.size(); ++i) {
    const Op& op = kernel.ops[i];
    const OpUse& use = kernel.uses[i];
    if (batch.IsReadBy(op, use) || WaitsForCopies(kernel, i)) batch.Close(counts);
    if (launch.tally[i].loaded_bytes > 0) batch.Add(op, use, launch.tally[i]);
    if (use.jump && op.offset < 0) batch.Close(counts);
  }
  batch.Close(counts);
}

}  // namespace onepass::sim
