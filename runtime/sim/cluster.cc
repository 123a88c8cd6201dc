#include "runtime/sim/cluster.h"

#include <cstring>
#include <utility>

#include "runtime/sim/checker.h"
#include "runtime/sim/mbarrier.h"

namespace onepass::sim {

// What warps hand each other at the cluster's barrier: in the phase that runs, in the last one.
struct ClusterChecks {
  Joint arrived;
  Joint ended;
};

Cluster::Cluster() = default;
Cluster::Cluster(Cluster&&) noexcept = default;
Cluster::~Cluster() = default;

void Cluster::Start(const Launch& of, uint64_t number) {
  launch = &of;
  index = number;
  blocks.clear();
  deliveries.clear();
  proxy_fences = 0;
  checks = of.checker == nullptr ? nullptr : std::make_unique<ClusterChecks>();
  random = Random(of.seed, ~number);
}

bool Cluster::Deliver() {
  if (deliveries.empty()) return false;
  const size_t which = launch->seed == 0 ? 0 : random.Below(deliveries.size());
  const Delivery delivery = deliveries[which];
  deliveries.erase(deliveries.begin() + static_cast<std::ptrdiff_t>(which));
  const uint8_t* from = delivery.from != nullptr ? delivery.from : delivery.value;
  if (delivery.combine != nullptr) {
    delivery.combine(delivery.to, from, delivery.bytes);
  } else {
    std::memmove(delivery.to, from, static_cast<size_t>(delivery.bytes));
  }
  ++delivery.warp->block->progress;
  Mbarrier barrier;
  if (!barrier.Load(delivery.barrier)) {
    Fault(*delivery.warp, *delivery.op, 1, "its mbarrier is not initialised any more");
    return true;
  }
  const bool odd = barrier.odd_phase();
  barrier.CompleteBytes(delivery.bytes);
  barrier.Store(delivery.barrier);
  if (launch->checker != nullptr) {
    launch->checker->CopyArrivedAt(*delivery.warp, delivery.lane, delivery.tag, delivery.barrier,
                                   barrier.odd_phase() != odd);
  }
  return true;
}

void Cluster::Arrive(Warp& warp, bool releases) {
  warp.cluster_arrived |= warp.exec;
  warp.cluster_owed |= warp.exec;
  if (checks != nullptr && (warp.live & ~warp.cluster_arrived) == 0) {
    BlockOrder& order = warp.block->checks->order;
    if (releases) order.Arrive(warp.index, checks->arrived);
    if (!releases) order.ArriveRelaxed(warp.index, checks->arrived);
  }
  TryRelease();
}

void Cluster::Leave(Warp& warp) {
  warp.cluster_owed &= ~warp.exec;
  if (checks != nullptr) warp.block->checks->order.Leave(warp.index, checks->ended);
}

void Cluster::TryRelease() {
  for (const Block* block : blocks) {
    for (const Warp& warp : block->warps) {
      if ((warp.live & ~warp.cluster_arrived) != 0) return;
    }
  }
  for (Block* block : blocks) {
    ++block->progress;
    for (Warp& warp : block->warps) warp.cluster_arrived = 0;
  }
  if (checks == nullptr || checks->arrived.known.empty()) return;
  checks->ended = std::exchange(checks->arrived, Joint());
}

uint8_t* Cluster::SharedAt(const Block& from, uint64_t address, int64_t bytes) const {
  const uint64_t rank = address >> kRankShift;
  const uint64_t offset = address & kSharedOffsetMask;
  if (rank > blocks.size()) return nullptr;
  const Block& block = rank == 0 ? from : *blocks[rank - 1];
  const auto size = static_cast<uint64_t>(launch->shared_bytes);
  if (offset > size || size - offset < static_cast<uint64_t>(bytes)) return nullptr;
  return block.shared + offset;
}

}  // namespace onepass::sim
