#include "runtime/sim/order.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace onepass::sim {

void BlockOrder::Start(uint64_t block, int warps) {
  block_ = block;
  base_ = 0;
  known_ = Clocks();
  fenced_ = Clocks();
  warps_.clear();
  warps_.resize(warps);
}

bool BlockOrder::Ordered(uint64_t of_block, int of_warp, int of_lane, uint32_t time, int warp,
                         int lane) const {
  if (of_block == block_) {
    if (OrderedForWarp(of_warp, time, warp)) return true;
    if (of_warp == warp && of_lane == lane) return true;
  }
  const auto knows = [&](const Clocks& clocks) {
    return !clocks.empty() && time < clocks.Of(of_block, of_warp, of_lane);
  };
  const WarpOrder& mine = warps_[warp];
  return knows(known_) || knows(mine.known) ||
         (mine.lanes != nullptr && knows((*mine.lanes)[lane].known));
}

void BlockOrder::JoinBlock() {
  uint32_t latest = base_;
  for (int i = 0; i < static_cast<int>(warps_.size()); ++i) {
    WarpOrder& warp = warps_[i];
    CollectFences(i, fenced_);
    fenced_.Join(warp.fenced);
    warp.fenced = Clocks();
    latest = std::max(latest, warp.now);
    known_.Join(warp.known);
    warp.known = Clocks();
    if (warp.lanes == nullptr) continue;
    for (Lane& lane : *warp.lanes) {
      known_.Join(lane.known);
      lane.known = Clocks();
    }
  }
  base_ = latest + 1;
  for (WarpOrder& warp : warps_) warp.now = warp.base = base_;
}

void BlockOrder::Arrive(int warp, Joint& joint) {
  WarpOrder& mine = warps_[warp];
  JoinLanes(warp, ~0u);
  joint.known.Join(known_);
  joint.known.Join(mine.known);
  joint.known.RaiseBlock(block_, base_);
  joint.known.RaiseWarp(block_, warp, mine.base);
  joint.fenced.Join(fenced_);
  joint.fenced.Join(mine.fenced);
}

void BlockOrder::Leave(int warp, const Joint& joint) {
  warps_[warp].known.Join(joint.known);
  warps_[warp].fenced.Join(joint.fenced);
}

void BlockOrder::ArriveRelaxed(int warp, Joint& joint) const {
  const WarpOrder& mine = warps_[warp];
  joint.known.Join(fenced_);
  joint.known.Join(mine.fenced);
  for (int lane = 0; mine.lanes != nullptr && lane < 32; ++lane) {
    const Moment& fence = (*mine.lanes)[lane].fence;
    if (fence.taken) joint.known.Join(ClocksAt(warp, lane, fence));
  }
}

// What the fences of the warp's lanes are behind; once for each fence.
void BlockOrder::CollectFences(int warp, Clocks& into) {
  WarpOrder& mine = warps_[warp];
  if (!std::exchange(mine.fences, false)) return;
  for (int lane = 0; lane < 32; ++lane) {
    const Moment& fence = (*mine.lanes)[lane].fence;
    if (fence.taken) into.Join(ClocksAt(warp, lane, fence));
  }
}

void BlockOrder::JoinLanes(int warp, uint32_t lanes) {
  WarpOrder& mine = warps_[warp];
  const uint32_t bound = ++mine.now;
  if (lanes == ~0u) {
    mine.base = bound;
    CollectFences(warp, mine.fenced);
    if (mine.lanes == nullptr) return;
    for (Lane& lane : *mine.lanes) {
      mine.known.Join(lane.known);
      lane.known = Clocks();
    }
    return;
  }
  Clocks joint;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    joint.Join(LaneOf(warp, lane).known);
    joint.RaiseLane(block_, warp, lane, bound);
  }
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    LaneOf(warp, std::countr_zero(left)).known = joint;
  }
}

BlockOrder::Lane& BlockOrder::LaneOf(int warp, int lane) {
  auto& lanes = warps_[warp].lanes;
  if (lanes == nullptr) lanes = std::make_unique<std::array<Lane, 32>>();
  return (*lanes)[lane];
}

Clocks BlockOrder::KnownTo(int warp, int lane) const {
  const WarpOrder& mine = warps_[warp];
  Clocks known = known_;
  known.Join(mine.known);
  if (mine.lanes != nullptr) known.Join((*mine.lanes)[lane].known);
  return known;
}

BlockOrder::Moment BlockOrder::MomentOf(int warp, int lane) const {
  return {true, warps_[warp].now, warps_[warp].base, base_, KnownTo(warp, lane)};
}

// All that is ordered before the moment, the lane's own accesses included.
Clocks BlockOrder::ClocksAt(int warp, int lane, const Moment& moment) const {
  Clocks clocks = moment.known;
  clocks.RaiseBlock(block_, moment.block_base);
  clocks.RaiseWarp(block_, warp, moment.warp_base);
  clocks.RaiseLane(block_, warp, lane, moment.now + 1);
  return clocks;
}

void BlockOrder::Fence(int warp, uint32_t lanes, bool block_scope) {
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    Lane& lane = LaneOf(warp, std::countr_zero(left));
    lane.known.Join(lane.seen_block);
    lane.seen_block = Clocks();
    if (!block_scope) {
      lane.known.Join(lane.seen);
      lane.seen = Clocks();
    }
    lane.block_fence = MomentOf(warp, std::countr_zero(left));
    if (!block_scope) lane.fence = lane.block_fence;
    warps_[warp].fences |= !block_scope;
  }
  ++warps_[warp].now;  // what follows is not part of the moment
}

void BlockOrder::Acquire(int warp, int lane, const Released& word, Strength strength) {
  const bool same_block = word.block == block_ && !word.to_block.empty();
  if (!same_block && (strength.block_scope || word.to_all.empty())) return;
  Lane& mine = LaneOf(warp, lane);
  if (same_block) (strength.acquire ? mine.known : mine.seen_block).Join(word.to_block);
  if (!strength.block_scope) (strength.acquire ? mine.known : mine.seen).Join(word.to_all);
}

bool BlockOrder::HasReleased(int warp, int lane, Strength strength) const {
  if (strength.release || !fenced_.empty() || !warps_[warp].fenced.empty()) return true;
  const auto& lanes = warps_[warp].lanes;
  return lanes != nullptr && (*lanes)[lane].block_fence.taken;
}

void BlockOrder::Release(int warp, int lane, Released& word, Strength strength, bool replaces) {
  if (replaces) word = Released();
  if (!HasReleased(warp, lane, strength)) return;
  if (word.block != block_) {
    word.to_block = Clocks();
    word.block = block_;
  }
  const Lane& mine = LaneOf(warp, lane);
  const Moment now = strength.release ? MomentOf(warp, lane) : Moment();
  const Moment& for_block = strength.release ? now : mine.block_fence;
  const Moment& for_all = strength.release ? now : mine.fence;
  if (for_block.taken) word.to_block.Join(ClocksAt(warp, lane, for_block));
  if (!strength.block_scope) {
    if (for_all.taken) word.to_all.Join(ClocksAt(warp, lane, for_all));
    word.to_all.Join(fenced_);
    word.to_all.Join(warps_[warp].fenced);
  }
  if (strength.release) ++warps_[warp].now;
}

}  // namespace onepass::sim
