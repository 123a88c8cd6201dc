#include "runtime/sim/checker.h"

#include <bit>

#include "absl/strings/str_format.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/where.h"

namespace onepass::sim {
namespace {

using F = AccessFlags;
using Kind = AccessRecord::Kind;

// Cells begin at an address that every access's width divides.
uint64_t PadOf(const GlobalMemory::Buffer& buffer) { return buffer.begin & 63; }

}  // namespace

void BlockChecks::Start(const Block& block) {
  const Launch& launch = *block.launch;
  order.Start(block.index, launch.warps);
  cells.Reset(launch.shared_bytes);
  written.Reset(launch.shared_bytes);
  written_local.Reset(launch.kernel->local_bytes * 32 * launch.warps);
  records.all.clear();
  words.clear();
  for (Joint& joint : joints) joint = Joint();
  mbarriers.clear();
  visitors.clear();
  copies.assign(launch.warps, 0);
  astray.assign(launch.warps, 0);
  exited = false;
  latest_shared.assign(static_cast<size_t>(kLatest) * launch.warps, 0);
  latest_global.assign(static_cast<size_t>(kLatest) * launch.warps, 0);
  registers.resize(launch.warps);
  for (RegisterCheck& of_warp : registers) of_warp.Start(*launch.kernel);
}

// Whether all lanes stay inside variables; the gaps between them are nobody's.
bool Checker::InsideVariables(const Op& op, Warp& warp, const Doing& doing, const Places& places) {
  const Launch& launch = *warp.block->launch;
  const uint64_t* offset = places.offset;
  if (places.dense && launch.shared_usable.HasAll(offset[0], 32 * doing.bytes)) return true;
  bool inside = true;
  for (uint32_t left = places.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if (launch.shared_usable.HasAll(offset[lane], doing.bytes)) continue;
    inside = false;
    const std::string place =
        SharedPlace(launch, static_cast<int64_t>(offset[lane]), doing.element_bytes);
    Report(Finding::Kind::kOutOfBounds, warp, op, lane,
           absl::StrFormat("%s of %d bytes out of bounds: %s", VerbOf(doing.kind), doing.bytes,
                           place));
  }
  return inside;
}

void Checker::Check(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                    const Places& places) {
  CheckWritten(op, warp, doing, target, places);
  if (target.buffer != nullptr && target.buffer->read_only) return;
  CheckRace(op, warp, doing, target, places);
  Synchronise(op, warp, doing, target, places);
}

void Checker::CheckSharedOf(const Op& op, Warp& warp, const Doing& doing, const Places& places,
                            Block& owner) {
  BlockChecks& checks = *owner.checks;
  Target target{&checks.cells, &checks.written, &checks.records, nullptr, &checks.words};
  target.owner = &owner;
  if (&owner == warp.block) target.latest = &checks.latest_shared;
  if (InsideVariables(op, warp, doing, places)) Check(op, warp, doing, target, places);
}

void Checker::CheckShared(const Op& op, Warp& warp, const Doing& doing, const HostBytes& bytes) {
  Block& block = *warp.block;
  if (block.launch->cluster_blocks == 1) {
    return CheckSharedOf(op, warp, doing, Places(bytes.offset, warp.exec, doing.bytes), block);
  }
  for (Block* owner : block.cluster->blocks) {
    alignas(64) uint64_t offsets[32];
    uint32_t inside = 0;
    for (int i = 0; i < 32; ++i) {
      offsets[i] = static_cast<uint64_t>(bytes.base + bytes.offset[i] - owner->shared);
      const bool here = offsets[i] < static_cast<uint64_t>(block.launch->shared_bytes);
      inside |= static_cast<uint32_t>(here) << i;
    }
    inside &= warp.exec;
    if (inside == 0) continue;
    CheckSharedOf(op, warp, doing, Places(offsets, inside, doing.bytes), *owner);
  }
}

AccessCells& Checker::CellsOf(const GlobalMemory::Buffer& buffer) {
  if (buffer.id >= cells_.size()) cells_.resize(buffer.id + 1);
  auto& cells = cells_[buffer.id];
  if (cells == nullptr) {
    cells = std::make_unique<AccessCells>();
    cells->Reset(static_cast<int64_t>(buffer.end - buffer.begin + PadOf(buffer)));
  }
  return *cells;
}

Checker::Target Checker::TargetOf(const Warp& warp, const GlobalMemory::Buffer& buffer) {
  Target target{&CellsOf(buffer), &buffer.written, &records_, &warp.block->checks->latest_global,
                &words_};
  target.buffer = &buffer;
  target.pad = PadOf(buffer);
  return target;
}

// The common access to global memory, without a look at each lane; false: it is another one.
bool Checker::CheckContiguous(const Op& op, Warp& warp, const Doing& doing) {
  const auto bytes = static_cast<uint64_t>(doing.bytes);
  const uint64_t start = ContiguousStart(op, warp, op.r[doing.address], bytes);
  if (start == 0) return false;
  const GlobalMemory::Buffer* buffer =
      HostBytes::GlobalBuffer(warp, start, 32 * bytes, bytes, doing.kind != Kind::kRead);
  if (buffer == nullptr) return false;
  alignas(64) uint64_t offsets[32];
  for (int i = 0; i < 32; ++i) offsets[i] = start - buffer->begin + i * bytes;
  Check(op, warp, doing, TargetOf(warp, *buffer), Places(offsets));
  return true;
}

void Checker::CheckGlobal(const Op& op, Warp& warp, const Doing& doing,
                          const LaneAddresses& addresses) {
  alignas(64) uint64_t offsets[32];
  for (uint32_t left = warp.exec; left != 0;) {  // buffer by buffer; nearly always there is one
    const GlobalMemory::Buffer& buffer = *memory_.Find(addresses.at[std::countr_zero(left)]);
    const uint64_t size = buffer.end - buffer.begin;
    uint32_t inside = 0;
    for (int i = 0; i < 32; ++i) {
      offsets[i] = addresses.at[i] - buffer.begin;
      inside |= static_cast<uint32_t>(offsets[i] < size) << i;
    }
    inside &= left;
    left &= ~inside;
    Check(op, warp, doing, TargetOf(warp, buffer), Places(offsets, inside, doing.bytes));
  }
}

bool Checker::Access(const Op& op, Warp& warp, const Doing& doing) {
  if (CheckContiguous(op, warp, doing)) return true;
  const LaneAddresses addresses(op, warp, op.r[doing.address], op.flags);
  HostBytes bytes;
  const Space space = static_cast<Space>(op.flags & F::kSpaceMask);
  if (!bytes.Find(op, warp, addresses, doing.bytes, doing.kind != Kind::kRead, space)) {
    return false;
  }
  if (bytes.space == Space::kShared) {
    CheckShared(op, warp, doing, bytes);
  } else if (bytes.space == Space::kLocal) {
    CheckLocal(op, warp, doing, bytes);
  } else if (bytes.space == Space::kGlobal) {
    CheckGlobal(op, warp, doing, addresses);
  }
  return true;
}

bool Checker::StoresToGlobal(const Op& op, const Warp& warp, int address) const {
  const Space space = static_cast<Space>(op.flags & F::kSpaceMask);
  if (space != Space::kGeneric) return space == Space::kGlobal;
  return SpaceOfAddress(LaneAddresses(op, warp, op.r[address], op.flags).First()) == Space::kGlobal;
}

void Checker::Fence(Warp& warp, bool block_scope) {
  warp.block->checks->order.Fence(warp.index, warp.exec, block_scope);
}

void Checker::SyncWarp(Warp& warp, uint32_t mask) {
  const bool all = (warp.live & ~(mask & warp.exec)) == 0;
  warp.block->checks->order.JoinLanes(warp.index, all ? ~0u : mask & warp.exec);
}

void Checker::WaitForWarp(Warp& warp) {
  for (const Path& path : warp.others) {
    const bool waits = path.state == Path::State::kAtBarrier || path.state == Path::State::kAtSync;
    if (!waits && !LeadsToExit(path.at)) warp.block->checks->astray[warp.index] |= path.lanes;
  }
}

void Checker::ExitLanes(Warp& warp, const Op& op) {
  const uint32_t lanes = warp.exec & warp.block->checks->astray[warp.index];
  if (lanes == 0) return;
  const Kernel& kernel = *warp.block->launch->kernel;
  for (const Path& path : warp.others) {
    if (path.state != Path::State::kAtBarrier) continue;
    Report(
        Finding::Kind::kBarrierDivergence, warp, op, std::countr_zero(lanes),
        absl::StrFormat("divergent barrier: lanes %08x of the warp wait%s, another exits without "
                        "it",
                        path.lanes, AtLine(kernel, *path.at)));
    return;
  }
}

void Checker::Arrive(Warp& warp, const BarrierRequest& request) {
  BlockChecks& checks = *warp.block->checks;
  checks.astray[warp.index] = 0;
  if (request.expected != 0) checks.order.Arrive(warp.index, checks.joints[request.barrier]);
}

void Checker::Complete(Block& block, int barrier) {
  BlockChecks& checks = *block.checks;
  bool all = true;  // an exited warp counts as one that has arrived, where no number says otherwise
  const Warp* first = nullptr;
  for (Warp& warp : block.warps) {
    const bool waits =
        warp.stop == Stop::kBarrier && RequestOf(warp, *warp.resume).barrier == barrier;
    all &= waits || (warp.stop == Stop::kExit && block.barriers[barrier].expected == 0);
    if (!waits) continue;
    if (first == nullptr) first = &warp;
    CheckMeeting(*first, warp);
  }
  if (all) {
    checks.order.JoinBlock();
  } else {
    for (Warp& warp : block.warps) {
      if (warp.stop != Stop::kBarrier) continue;
      if (RequestOf(warp, *warp.resume).barrier != barrier) continue;
      checks.order.Leave(warp.index, checks.joints[barrier]);
    }
  }
  checks.joints[barrier] = Joint();
}

}  // namespace onepass::sim
