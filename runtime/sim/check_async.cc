// Asynchronous copies, mbarriers, and blocks whose shared memory others use.
#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/where.h"

namespace onepass::sim {
namespace {

using Kind = AccessRecord::Kind;

// The block whose shared memory the host's byte is in.
Block& OwnerOf(const Warp& warp, const uint8_t* byte) {
  const int64_t size = warp.block->launch->shared_bytes;
  for (Block* block : warp.block->cluster->blocks) {
    if (byte >= block->shared && byte < block->shared + size) return *block;
  }
  return *warp.block;
}

Clocks ClocksOf(const Warp& issuer, int lane, CopyTag tag, bool reads_only) {
  Clocks clocks;
  clocks.RaiseLane(CopyTag::BlockOf(issuer.block->index, issuer.index), tag.slot, lane,
                   tag.time + (reads_only ? 1 : 2));
  return clocks;
}

}  // namespace

Checker::Target Checker::TargetAt(const Warp& warp, uint64_t address, uint64_t& offset) {
  Target target;
  const Space space = SpaceOfAddress(address);
  if (space == Space::kShared) {
    const Cluster& cluster = *warp.block->cluster;
    target.owner = &OwnerOf(warp, cluster.SharedAt(*warp.block, address - kSharedWindow, 1));
    offset = (address - kSharedWindow) & kSharedOffsetMask;
    BlockChecks& checks = *target.owner->checks;
    target.cells = &checks.cells;
    target.written = &checks.written;
    target.records = &checks.records;
  } else if (space == Space::kGlobal) {
    target.buffer = memory_.Find(address);
    offset = address - target.buffer->begin;
    target.cells = &CellsOf(*target.buffer);
    target.written = &target.buffer->written;
    target.records = &records_;
    target.pad = target.buffer->begin & 63;
  }
  return target;
}

// One lane's access of doing.bytes bytes, known to be ordered behind what `mine` is behind, and
// noted as `noted`.
void Checker::CheckLane(const Op& op, Warp& warp, int lane, const Doing& doing,
                        const AccessRecord& mine, const AccessRecord& noted, const Target& target,
                        uint64_t offset) {
  const uint64_t begin = offset + target.pad;
  const uint64_t parts = begin | static_cast<uint64_t>(doing.bytes);
  target.cells->Refine(static_cast<int64_t>(parts & (0 - parts)));
  if (target.records->all.size() >= AccessRecords::kMost) Forget(target);
  const uint32_t index = target.records->IndexFor(noted, nullptr);
  RaceCheck check(target.records->all, warp.block->checks->order, mine, (index + 1) << 5,
                  *target.cells);
  const auto cell = static_cast<int64_t>(begin >> target.cells->shift());
  const int count = doing.bytes >> target.cells->shift();
  const auto conflict = check.Check(lane, cell, count);
  if (conflict) ReportRace(op, warp, doing, target, *conflict);
  check.Note(lane, cell, count);
}

CopyTag Checker::TagFor(Warp& warp) {
  const uint32_t number = warp.block->checks->copies[warp.index]++;
  return {.time = 1 + number / 32 * 2, .slot = static_cast<uint8_t>(number % 32)};
}

void Checker::CheckPart(const Op& op, Warp& warp, int lane, const Copy& copy, bool write) {
  uint64_t offset = 0;
  const Target target = TargetAt(warp, write ? copy.to : copy.from, offset);
  if (target.cells == nullptr || (target.buffer != nullptr && target.buffer->read_only)) return;
  Doing doing;
  doing.kind = !write ? Kind::kRead : copy.updates ? Kind::kUpdate : Kind::kWrite;
  doing.bytes = static_cast<int>(write ? copy.size : copy.bytes);
  doing.element_bytes = doing.bytes % 4 == 0 ? 4 : 1;
  doing.copy = true;
  if (target.owner != nullptr && !warp.block->launch->shared_usable.HasAll(offset, doing.bytes)) {
    const auto place = static_cast<int64_t>(offset);
    return Report(Finding::Kind::kOutOfBounds, warp, op, lane,
                  absl::StrFormat("%s of %d bytes out of bounds: %s", VerbOf(doing.kind, true),
                                  doing.bytes, SharedPlace(*warp.block->launch, place, 1)));
  }
  AccessRecord mine;
  mine.block = static_cast<uint32_t>(warp.block->index);
  mine.op = IndexOf(warp, op);
  mine.time = warp.block->checks->order.Now(warp.index);
  mine.warp = static_cast<uint8_t>(warp.index);
  mine.kind = doing.kind;
  mine.strong = copy.updates && write;
  AccessRecord noted = mine;
  noted.block = CopyTag::BlockOf(warp.block->index, warp.index);
  noted.warp = copy.tag.slot;
  noted.time = copy.tag.time + (write ? 1 : 0);
  noted.copy = true;
  const bool visits = target.owner != nullptr && (copy.bulk || target.owner != warp.block);
  if (visits) NoteVisit(op, warp, 1u << lane, *target.owner, noted);
  if (copy.bulk && !write && target.owner != nullptr) {
    CheckProxy(op, warp, lane, doing, target, offset);
  }
  CheckLane(op, warp, lane, doing, mine, noted, target, offset);
}

// A bulk copy reads shared memory by another way than threads write it: a fence.proxy.async has to
// stand between them, in either thread. Reported only where none of the cluster's threads has
// executed one since, so that no order of those that there are is misjudged.
void Checker::CheckProxy(const Op& op, Warp& warp, int lane, const Doing& doing,
                         const Target& target, uint64_t offset) {
  const int shift = target.cells->shift();
  const auto end = static_cast<int64_t>((offset + doing.bytes - 1) >> shift);
  for (auto cell = static_cast<int64_t>(offset >> shift); cell <= end; ++cell) {
    const AccessId write = target.cells->writes()[cell];
    if (write == 0) continue;
    const AccessRecord& record = target.records->all[(write >> 5) - 1];
    if (record.copy || record.proxy_fences != warp.block->cluster->proxy_fences) continue;
    return ReportProxy(op, warp, lane, doing, target, cell);
  }
}

// The destination has been written where the source has.
void Checker::CarryWritten(const Warp& warp, const Copy& copy) {
  uint64_t to = 0, from = 0;
  const Target target = TargetAt(warp, copy.to, to);
  if (target.written == nullptr || !target.written->tracked()) return;
  target.written->Add(to, copy.size);
  if (copy.from == 0 || copy.bytes == 0 || copy.updates) return;
  const Target source = TargetAt(warp, copy.from, from);
  if (source.written == nullptr || !source.written->tracked()) return;
  if (source.written->HasAll(from, copy.bytes)) return;
  for (uint32_t i = 0; i < copy.bytes; ++i) {
    if (!source.written->Has(from + i)) target.written->Remove(to + i, 1);
  }
}

void Checker::StartCopy(const Op& op, Warp& warp, int lane, const Copy& copy) {
  if (copy.from != 0 && copy.bytes > 0) CheckPart(op, warp, lane, copy, /*write=*/false);
  CheckPart(op, warp, lane, copy, /*write=*/true);
  CarryWritten(warp, copy);
}

void Checker::Waited(Warp& warp, int lane, CopyTag tag, bool reads_only) {
  warp.block->checks->order.Learn(warp.index, lane, ClocksOf(warp, lane, tag, reads_only));
}

MbarrierOrder& Checker::MbarrierAt(const Warp& warp, uint64_t address) {
  uint64_t offset = 0;
  const Target target = TargetAt(warp, address, offset);
  return target.owner->checks->mbarriers[offset];
}

void Checker::TouchMbarrier(const Op& op, Warp& warp, int lane, uint64_t address, bool creates) {
  uint64_t offset = 0;
  const Target target = TargetAt(warp, address, offset);
  Doing doing;
  doing.kind = creates ? Kind::kWrite : Kind::kRead;
  doing.bytes = doing.element_bytes = 8;
  AccessRecord mine;
  mine.block = static_cast<uint32_t>(warp.block->index);
  mine.op = IndexOf(warp, op);
  mine.time = warp.block->checks->order.Now(warp.index);
  mine.warp = static_cast<uint8_t>(warp.index);
  mine.kind = doing.kind;
  mine.strong = !creates;
  if (creates) {
    target.written->Add(offset, 8);
    target.owner->checks->mbarriers.erase(offset);
  }
  if (target.owner != warp.block) NoteVisit(op, warp, 1u << lane, *target.owner, mine);
  CheckLane(op, warp, lane, doing, mine, mine, target, offset);
}

// Scopes do not count: an mbarrier is in one block's memory, and programs leave them out.
void Checker::ArriveAt(Warp& warp, int lane, uint64_t address, bool releases, bool ended) {
  MbarrierOrder& barrier = MbarrierAt(warp, address);
  warp.block->checks->order.Release(warp.index, lane, barrier.arrived, {.release = releases},
                                    /*replaces=*/false);
  if (ended) barrier.ended.to_all.Join(barrier.arrived.to_all);
}

void Checker::WaitedAt(Warp& warp, int lane, uint64_t address, bool acquires) {
  const MbarrierOrder& barrier = MbarrierAt(warp, address);
  warp.block->checks->order.Acquire(warp.index, lane, barrier.ended, {.acquire = acquires});
}

void Checker::CopyArrivedAt(const Warp& issuer, int lane, CopyTag tag, const uint8_t* word,
                            bool ended) {
  Block& owner = OwnerOf(issuer, word);
  MbarrierOrder& barrier = owner.checks->mbarriers[static_cast<uint64_t>(word - owner.shared)];
  barrier.arrived.to_all.Join(ClocksOf(issuer, lane, tag, /*reads_only=*/false));
  if (ended) barrier.ended.to_all.Join(barrier.arrived.to_all);
}

// Shared memory is there from its block's start to its exit, and others have to know of both.
void Checker::NoteVisit(const Op& op, Warp& warp, uint32_t lanes, Block& owner,
                        const AccessRecord& record) {
  BlockChecks& checks = *owner.checks;
  const int lane = std::countr_zero(lanes);
  const auto report = [&](std::string_view what) {
    Report(Finding::Kind::kSharedRace, warp, op, lane,
           absl::StrFormat("%s of the shared memory of block %s, which %s",
                           VerbOf(record.kind, record.copy), BlockName(*owner.launch, owner.index),
                           what));
  };
  if (&owner != warp.block) {
    if (checks.exited) return report("has exited");
    if (!warp.block->checks->order.KnowsOf(owner.index, warp.index, lane)) {
      report("may not have started");
    }
  }
  Visitor& visitor = checks.visitors[uint64_t{record.block} * 32 + record.warp];
  visitor.last = record;
  visitor.lanes |= lanes;
}

void Checker::Exit(Block& block) {
  BlockChecks& checks = *block.checks;
  checks.exited = true;
  if (checks.visitors.empty()) return;
  checks.order.JoinBlock();
  const Launch& launch = *block.launch;
  for (const auto& [key, visitor] : checks.visitors) {
    const AccessRecord& last = visitor.last;
    for (uint32_t left = visitor.lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (checks.order.Ordered(last.block, last.warp, lane, last.time, 0, 0)) continue;
      findings_.Add(Finding::Kind::kSharedRace, launch.kernel->name, last.op, ~uint64_t{0}, [&] {
        return absl::StrFormat("%s: block %s may exit before the %s of its shared memory by %s%s",
                               launch.kernel->name, BlockName(launch, block.index),
                               VerbOf(last.kind, last.copy), ThreadOfRecord(launch, last, lane),
                               AtLine(*launch.kernel, launch.kernel->ops[last.op]));
      });
      break;
    }
  }
}

}  // namespace onepass::sim
