#include "runtime/sim/checker.h"

#include <bit>
#include <cstring>
#include <optional>

#include "absl/strings/str_format.h"
#include "runtime/sim/race_check.h"
#include "runtime/sim/where.h"

namespace onepass::sim {
namespace {

using F = AccessFlags;
using Kind = AccessRecord::Kind;

uint32_t IndexOf(const Warp& warp, const Op& op) {
  return static_cast<uint32_t>(&op - warp.block->launch->kernel->ops.data());
}

Strength StrengthOf(uint32_t flags) {
  return {(flags & F::kAcquire) != 0, (flags & F::kRelease) != 0, (flags & F::kBlockScope) != 0};
}

std::string_view VerbOf(Kind kind) {
  return kind == Kind::kRead ? "read" : kind == Kind::kWrite ? "write" : "atomic";
}

// All lanes, each `bytes` behind the one before.
bool IsDense(const uint64_t* offsets, uint32_t lanes, uint64_t bytes) {
  uint64_t difference = ~lanes;
  for (int i = 0; i < 32; ++i) difference |= offsets[i] - (offsets[0] + i * bytes);
  return difference == 0;
}

// All executing lanes at the same place.
bool IsUniform(const uint64_t* offsets, uint32_t lanes) {
  const uint64_t first = offsets[std::countr_zero(lanes)];
  uint64_t difference = 0;
  for (int i = 0; i < 32; ++i) difference |= (lanes >> i & 1) != 0 ? offsets[i] ^ first : 0;
  return difference == 0;
}

// Of equal lanes two stand for all: one of them is not the thread that accessed the place before.
uint32_t Representatives(uint32_t lanes) {
  const uint32_t highest = uint32_t{1} << (31 - std::countl_zero(lanes));
  return (lanes & (0 - lanes)) | highest;
}

template <class Fn>
void EachLane(uint32_t lanes, Fn fn) {
  for (; lanes != 0; lanes &= lanes - 1) fn(std::countr_zero(lanes));
}

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
  latest_shared.assign(static_cast<size_t>(kLatest) * launch.warps, 0);
  latest_global.assign(static_cast<size_t>(kLatest) * launch.warps, 0);
  registers.resize(launch.warps);
  for (RegisterCheck& of_warp : registers) of_warp.Start(*launch.kernel);
}

struct Checker::Target {
  AccessCells* cells = nullptr;
  ByteSet* written = nullptr;
  AccessRecords* records = nullptr;
  std::vector<uint32_t>* latest = nullptr;  // null: of another block's memory
  absl::flat_hash_map<uint64_t, Released>* words = nullptr;
  const GlobalMemory::Buffer* buffer = nullptr;  // null: shared memory
  uint64_t pad = 0;                              // of cells before the memory's first byte
};

uint32_t AccessRecords::IndexFor(const AccessRecord& mine, uint32_t* latest) {
  if (latest != nullptr && *latest < all.size()) {
    const AccessRecord& record = all[*latest];
    if (record.op == mine.op && record.time == mine.time && record.warp == mine.warp &&
        record.block == mine.block) {
      return *latest;
    }
  }
  all.push_back(mine);
  const uint32_t index = static_cast<uint32_t>(all.size()) - 1;
  if (latest != nullptr) *latest = index;
  return index;
}

void Checker::Report(Finding::Kind kind, const Warp& warp, const Op& op, int lane,
                     const std::string& what) {
  const Launch& launch = *warp.block->launch;
  findings_.Add(kind, launch.kernel->name, IndexOf(warp, op), 0, [&] {
    return absl::StrFormat("%s: %s, %s%s", launch.kernel->name, what,
                           ThreadOf(launch, warp.block->index, warp.index, lane),
                           AtLine(*launch.kernel, op));
  });
}

std::string Checker::PlaceOf(const Launch& launch, const Doing& doing, const Target& target,
                             uint64_t offset) const {
  if (target.buffer == nullptr) {
    return SharedPlace(launch, static_cast<int64_t>(offset), doing.element_bytes);
  }
  return memory_.Describe(target.buffer->begin + offset);
}

void Checker::ReportRace(const Op& op, Warp& warp, const Target& target, int64_t cell,
                         AccessId other_id, int lane, const Doing& doing) {
  const Launch& launch = *warp.block->launch;
  const AccessRecord& other = target.records->all[(other_id >> 5) - 1];
  const auto which = target.buffer == nullptr ? Finding::Kind::kSharedRace
                                              : Finding::Kind::kGlobalRace;
  findings_.Add(which, launch.kernel->name, IndexOf(warp, op), other.op + 1, [&] {
    const int64_t begin = (cell << target.cells->shift()) - static_cast<int64_t>(target.pad);
    const Kernel& kernel = *launch.kernel;
    return absl::StrFormat(
        "%s: race in %s: %s by %s%s and %s by %s%s", kernel.name,
        PlaceOf(launch, doing, target, std::max<int64_t>(begin, 0)), VerbOf(other.kind),
        ThreadOf(launch, other.block, other.warp, static_cast<int>(other_id & 31)),
        AtLine(kernel, kernel.ops[other.op]), VerbOf(doing.kind),
        ThreadOf(launch, warp.block->index, warp.index, lane), AtLine(kernel, op));
  });
}

// Two lanes of one instruction write the same place: which value stays is not defined.
void Checker::ReportClash(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                          uint64_t offset, int lane, int other) {
  bool same = doing.row_bytes > 0;
  for (int n = 0; n < (doing.row_bytes > 0 ? doing.bytes / doing.element_bytes : 0); ++n) {
    const uint8_t* row = warp.In<uint8_t>(op.r[doing.values + n]);
    same &= std::memcmp(row + lane * doing.row_bytes, row + other * doing.row_bytes,
                        doing.element_bytes) == 0;
  }
  if (same) return;
  const Launch& launch = *warp.block->launch;
  const auto which = target.buffer == nullptr ? Finding::Kind::kSharedRace
                                              : Finding::Kind::kGlobalRace;
  findings_.Add(which, launch.kernel->name, IndexOf(warp, op), 0, [&] {
    const uint64_t block = warp.block->index;
    return absl::StrFormat(
        "%s: race in %s: one instruction writes different values by %s and %s%s",
        launch.kernel->name, PlaceOf(launch, doing, target, offset),
        ThreadOf(launch, block, warp.index, other), ThreadOf(launch, block, warp.index, lane),
        AtLine(*launch.kernel, op));
  });
}

void Checker::CheckWritten(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                           const uint64_t* offsets, uint32_t lanes) {
  ByteSet& written = *target.written;
  if (!written.tracked()) return;
  const bool dense = IsDense(offsets, lanes, doing.bytes);
  if (doing.kind == Kind::kWrite) {
    if (dense) return written.Add(offsets[0], 32 * doing.bytes);
    EachLane(lanes, [&](int lane) { written.Add(offsets[lane], doing.bytes); });
    return;
  }
  if (dense && written.HasAll(offsets[0], 32 * doing.bytes)) return;
  const uint32_t asked = IsUniform(offsets, lanes) ? lanes & (0 - lanes) : lanes;
  EachLane(asked, [&](int lane) {
    if (written.HasAll(offsets[lane], doing.bytes)) return;
    uint64_t byte = offsets[lane];
    while (written.Has(byte)) ++byte;
    Report(Finding::Kind::kUninitialisedRead, warp, op, lane,
           "read of uninitialised " + PlaceOf(*warp.block->launch, doing, target, byte));
  });
  if (doing.kind == Kind::kUpdate) {
    EachLane(lanes, [&](int lane) { written.Add(offsets[lane], doing.bytes); });
  }
}

void Checker::CheckLocal(const Op& op, Warp& warp, const Doing& doing, const HostBytes& bytes) {
  Block& block = *warp.block;
  ByteSet& written = block.checks->written_local;
  const int64_t size = block.launch->kernel->local_bytes;
  const uint64_t warp_begin = static_cast<uint64_t>(warp.index) * 32 * size;
  EachLane(warp.exec, [&](int lane) {
    const uint64_t offset = warp_begin + bytes.offset[lane];
    if (doing.kind != Kind::kRead) return written.Add(offset, doing.bytes);
    if (written.HasAll(offset, doing.bytes)) return;
    Report(Finding::Kind::kUninitialisedRead, warp, op, lane,
           absl::StrFormat("read of uninitialised local memory (byte %d of %d)",
                           bytes.offset[lane] - lane * size, size));
  });
}

// What a strong access hands over or takes.
void Checker::Synchronise(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                          const uint64_t* offsets, uint32_t lanes) {
  if ((op.flags & F::kStrongOrder) == 0) return;
  const Strength strength = StrengthOf(op.flags);
  BlockOrder& order = warp.block->checks->order;
  const uint64_t begin = target.buffer == nullptr ? 0 : target.buffer->begin;
  EachLane(lanes, [&](int lane) {
    const uint64_t word = begin + offsets[lane];
    auto found = target.words->find(word);
    if (doing.kind != Kind::kWrite && found != target.words->end()) {
      order.Acquire(warp.index, lane, found->second, strength);
    }
    if (doing.kind == Kind::kRead) return;
    const bool gives = order.HasReleased(warp.index, lane, strength);
    if (!gives && found == target.words->end()) return;
    order.Release(warp.index, lane, (*target.words)[word], strength,
                  /*replaces=*/doing.kind == Kind::kWrite);
  });
}

void Checker::CheckRace(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                        const uint64_t* offsets, uint32_t lanes) {
  BlockChecks& checks = *warp.block->checks;
  target.cells->Refine(doing.bytes);
  AccessRecord mine;
  mine.block = static_cast<uint32_t>(warp.block->index);
  mine.op = IndexOf(warp, op);
  mine.time = checks.order.Now(warp.index);
  mine.warp = static_cast<uint8_t>(warp.index);
  mine.kind = doing.kind;
  mine.strong = (op.flags & F::kStrongOrder) != 0;
  mine.block_scope = (op.flags & F::kBlockScope) != 0;
  if (target.records->all.size() >= AccessRecords::kMost) Forget(target);
  uint32_t* latest = target.latest == nullptr
                         ? nullptr
                         : &(*target.latest)[warp.index * BlockChecks::kLatest +
                                             mine.op % BlockChecks::kLatest];
  const uint32_t index = target.records->IndexFor(mine, latest);
  RaceCheck check(target.records->all, checks.order, mine, (index + 1) << 5, *target.cells);
  const int shift = target.cells->shift();
  const int count = doing.bytes >> shift;
  const auto cell_of = [&](int lane) {
    return static_cast<int64_t>((offsets[lane] + target.pad) >> shift);
  };
  if (doing.kind != Kind::kUpdate && IsDense(offsets, lanes, doing.bytes)) {
    if (const auto conflict = check.Dense(cell_of(0), count)) {
      ReportRace(op, warp, target, conflict->cell, conflict->other, conflict->lane, doing);
    }
    return;
  }
  if (doing.kind == Kind::kRead && IsUniform(offsets, lanes)) lanes = Representatives(lanes);
  bool raced = false;
  EachLane(lanes, [&](int lane) {
    const auto conflict = check.Check(lane, cell_of(lane), count);
    if (!conflict) return;
    raced = true;
    ReportRace(op, warp, target, conflict->cell, conflict->other, lane, doing);
  });
  EachLane(lanes, [&](int lane) {
    const int other = check.Note(lane, cell_of(lane), count);
    if (other < 0 || raced || doing.kind != Kind::kWrite) return;
    ReportClash(op, warp, doing, target, offsets[lane], lane, other);
  });
}

// There is no room for more records: what has been seen so far cannot race any more.
void Checker::Forget(const Target& target) {
  target.records->all.clear();
  if (target.buffer == nullptr) return target.cells->Reset(target.cells->bytes());
  for (auto& cells : cells_) {
    if (cells != nullptr) cells->Reset(cells->bytes());
  }
}

// Whether all lanes stay inside variables; the gaps between them are nobody's.
bool Checker::InsideVariables(const Op& op, Warp& warp, const Doing& doing,
                              const uint64_t* offsets) {
  const Launch& launch = *warp.block->launch;
  if (IsDense(offsets, warp.exec, doing.bytes) &&
      launch.shared_usable.HasAll(offsets[0], 32 * doing.bytes)) {
    return true;
  }
  bool inside = true;
  EachLane(warp.exec, [&](int lane) {
    if (launch.shared_usable.HasAll(offsets[lane], doing.bytes)) return;
    inside = false;
    Report(Finding::Kind::kOutOfBounds, warp, op, lane,
           absl::StrFormat("%s of %d bytes out of bounds: %s", VerbOf(doing.kind), doing.bytes,
                           SharedPlace(launch, static_cast<int64_t>(offsets[lane]), doing.element_bytes)));
  });
  return inside;
}

void Checker::CheckShared(const Op& op, Warp& warp, const Doing& doing, const uint64_t* offsets,
                          Block& owner) {
  BlockChecks& checks = *owner.checks;
  Target target{&checks.cells, &checks.written, &checks.records, nullptr, &checks.words};
  if (&owner == warp.block) target.latest = &checks.latest_shared;
  if (!InsideVariables(op, warp, doing, offsets)) return;
  CheckWritten(op, warp, doing, target, offsets, warp.exec);
  CheckRace(op, warp, doing, target, offsets, warp.exec);
  Synchronise(op, warp, doing, target, offsets, warp.exec);
}

void Checker::CheckGlobal(const Op& op, Warp& warp, const Doing& doing,
                          const LaneAddresses& addresses) {
  alignas(64) uint64_t offsets[32];
  for (uint32_t left = warp.exec; left != 0;) {  // buffer by buffer; nearly always there is one
    const uint64_t address = addresses.at[std::countr_zero(left)];
    const GlobalMemory::Buffer& buffer = *memory_.Find(address);
    const uint64_t size = buffer.end - buffer.begin;
    uint32_t inside = 0;
    for (int i = 0; i < 32; ++i) {
      offsets[i] = addresses.at[i] - buffer.begin;
      inside |= static_cast<uint32_t>(offsets[i] < size) << i;
    }
    inside &= left;
    left &= ~inside;
    if (buffer.id >= cells_.size()) cells_.resize(buffer.id + 1);
    auto& cells = cells_[buffer.id];
    const uint64_t pad = buffer.begin & 63;
    if (cells == nullptr) {
      cells = std::make_unique<AccessCells>();
      cells->Reset(static_cast<int64_t>(size + pad));
    }
    const Target target{cells.get(),
                        &buffer.written,
                        &records_,
                        &warp.block->checks->latest_global,
                        &words_,
                        &buffer,
                        pad};
    CheckWritten(op, warp, doing, target, offsets, inside);
    if (buffer.read_only) continue;
    CheckRace(op, warp, doing, target, offsets, inside);
    Synchronise(op, warp, doing, target, offsets, inside);
  }
}

bool Checker::Access(const Op& op, Warp& warp, const Doing& doing) {
  const LaneAddresses addresses(op, warp, op.r[doing.address], op.flags);
  HostBytes bytes;
  const Space space = static_cast<Space>(op.flags & F::kSpaceMask);
  if (!bytes.Find(op, warp, addresses, doing.bytes, doing.kind != Kind::kRead, space)) {
    return false;
  }
  if (bytes.space == Space::kShared) {
    CheckShared(op, warp, doing, bytes.offset, *warp.block);
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
  return SpaceOfAddress(LaneAddresses(op, warp, op.r[address], op.flags).First()) ==
         Space::kGlobal;
}

void Checker::Fence(Warp& warp, bool block_scope) {
  warp.block->checks->order.Fence(warp.index, warp.exec, block_scope);
}

void Checker::SyncWarp(Warp& warp, uint32_t mask) {
  const bool all = (warp.live & ~(mask & warp.exec)) == 0;
  warp.block->checks->order.JoinLanes(warp.index, all ? ~0u : mask & warp.exec);
}

void Checker::Arrive(Warp& warp, const BarrierRequest& request) {
  BlockChecks& checks = *warp.block->checks;
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

// Warps that meet at one barrier by different instructions: __syncthreads() in code that not all
// threads of the block reach.
void Checker::CheckMeeting(const Warp& a, const Warp& b) {
  if (a.resume == b.resume || a.lanes == 0 || b.lanes == 0) return;
  const Launch& launch = *a.block->launch;
  const BarrierRequest of_a = RequestOf(a, *a.resume), of_b = RequestOf(b, *b.resume);
  const bool numbers = of_a.expected != of_b.expected;
  if (!numbers && (of_a.expected != 0 || !of_a.aligned || !of_b.aligned)) return;
  const auto thread = [&](const Warp& warp) {
    return ThreadOf(launch, warp.block->index, warp.index, std::countr_zero(warp.lanes)) +
           AtLine(*launch.kernel, *warp.resume);
  };
  findings_.Add(Finding::Kind::kBarrierDivergence, launch.kernel->name, IndexOf(a, *a.resume),
                IndexOf(b, *b.resume), [&] {
                  return absl::StrFormat("%s: barrier %d is reached at different places%s: %s, %s",
                                         launch.kernel->name, of_a.barrier,
                                         numbers ? " with different numbers of threads" : "",
                                         thread(a), thread(b));
                });
}

}  // namespace onepass::sim
