// The checkers' findings in words.
#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/checker.h"
#include "runtime/sim/where.h"

namespace onepass::sim {
namespace {

constexpr auto kShared = Finding::Kind::kSharedRace;
constexpr auto kGlobal = Finding::Kind::kGlobalRace;

}  // namespace

uint32_t IndexOf(const Warp& warp, const Op& op) {
  return static_cast<uint32_t>(&op - warp.block->launch->kernel->ops.data());
}

std::string VerbOf(AccessRecord::Kind kind, bool copy) {
  static constexpr const char* kVerbs[] = {"read", "write", "atomic"};
  return absl::StrCat(copy ? "asynchronous " : "", kVerbs[static_cast<int>(kind)]);
}

std::string Checker::ThreadOfRecord(const Launch& launch, const AccessRecord& record, int lane) {
  if (!record.copy) return ThreadOf(launch, record.block, record.warp, lane);
  const uint32_t issuer = record.block & (CopyTag::kBlocks - 1);
  return ThreadOf(launch, issuer / 32, static_cast<int>(issuer % 32), lane);
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

uint32_t Checker::OriginFor(const Warp& warp, const Op& op, int lane,
                            const std::function<std::string()>& place) {
  const auto [entry, is_new] = origins_.try_emplace(IndexOf(warp, op) + 1);
  if (is_new) {
    const Launch& launch = *warp.block->launch;
    entry->second = absl::StrFormat("read of uninitialised %s, %s%s", place(),
                                    ThreadOf(launch, warp.block->index, warp.index, lane),
                                    AtLine(*launch.kernel, op));
  }
  return entry->first;
}

void Checker::ReportUse(const Warp& warp, const Op& op, uint32_t lanes, uint32_t origin,
                        std::string_view what) {
  if (lanes == 0) return;
  const Launch& launch = *warp.block->launch;
  findings_.Add(
      Finding::Kind::kUninitialisedRead, launch.kernel->name, IndexOf(warp, op), origin, [&] {
        const std::string where = absl::StrFormat(
            "%s%s", ThreadOf(launch, warp.block->index, warp.index, std::countr_zero(lanes)),
            AtLine(*launch.kernel, op));
        if (origin == 0) {
          return absl::StrFormat("%s: %s an uninitialised register, %s", launch.kernel->name, what,
                                 where);
        }
        return absl::StrFormat("%s: %s; %s it, %s", launch.kernel->name, origins_[origin], what,
                               where);
      });
}

std::string Checker::PlaceOf(const Launch& launch, const Doing& doing, const Target& target,
                             uint64_t offset) const {
  if (target.buffer != nullptr) return memory_.Describe(target.buffer->begin + offset);
  return SharedPlace(launch, static_cast<int64_t>(offset), doing.element_bytes);
}

void Checker::ReportRace(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                         const RaceCheck::Conflict& conflict) {
  const Launch& launch = *warp.block->launch;
  const Kernel& kernel = *launch.kernel;
  const AccessRecord& other = target.records->all[(conflict.other >> 5) - 1];
  const auto kind = target.buffer == nullptr ? kShared : kGlobal;
  const bool constant = other.read_only || (op.flags & AccessFlags::kReadOnly) != 0;
  findings_.Add(kind, kernel.name, IndexOf(warp, op), other.op + 1, [&] {
    const int64_t begin =
        (conflict.cell << target.cells->shift()) - static_cast<int64_t>(target.pad);
    return absl::StrFormat(
        "%s: %s %s: %s by %s%s and %s by %s%s", kernel.name,
        constant ? "ld.nc of what the launch writes, in" : "race in",
        PlaceOf(launch, doing, target, std::max<int64_t>(begin, 0)), VerbOf(other.kind, other.copy),
        ThreadOfRecord(launch, other, static_cast<int>(conflict.other & 31)),
        AtLine(kernel, kernel.ops[other.op]), VerbOf(doing.kind, doing.copy),
        ThreadOf(launch, warp.block->index, warp.index, conflict.lane), AtLine(kernel, op));
  });
}

void Checker::ReportProxy(const Op& op, Warp& warp, int lane, const Doing& doing,
                          const Target& target, int64_t cell) {
  const Launch& launch = *warp.block->launch;
  const Kernel& kernel = *launch.kernel;
  const AccessId write = target.cells->writes()[cell];
  const AccessRecord& record = target.records->all[(write >> 5) - 1];
  findings_.Add(kShared, kernel.name, IndexOf(warp, op), record.op + 1, [&] {
    const auto begin = static_cast<uint64_t>(cell) << target.cells->shift();
    return absl::StrFormat(
        "%s: no fence.proxy.async between the write of %s by %s%s and the "
        "asynchronous read by %s%s",
        kernel.name, PlaceOf(launch, doing, target, begin),
        ThreadOfRecord(launch, record, static_cast<int>(write & 31)),
        AtLine(kernel, kernel.ops[record.op]),
        ThreadOf(launch, warp.block->index, warp.index, lane), AtLine(kernel, op));
  });
}

// Two lanes of one instruction write the same place: which value stays is not defined.
void Checker::ReportClash(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                          uint64_t offset, int lane, int other) {
  if (doing.values < 0) return;
  bool same = true;
  for (int n = 0; n < doing.bytes / doing.element_bytes; ++n) {
    const uint8_t* row = warp.In<uint8_t>(op.r[doing.values + n]);
    same &= std::memcmp(row + lane * doing.row_bytes, row + other * doing.row_bytes,
                        doing.element_bytes) == 0;
  }
  if (same) return;
  const Launch& launch = *warp.block->launch;
  const auto kind = target.buffer == nullptr ? kShared : kGlobal;
  findings_.Add(kind, launch.kernel->name, IndexOf(warp, op), 0, [&] {
    const uint64_t block = warp.block->index;
    return absl::StrFormat("%s: race in %s: one instruction writes different values by %s and %s%s",
                           launch.kernel->name, PlaceOf(launch, doing, target, offset),
                           ThreadOf(launch, block, warp.index, other),
                           ThreadOf(launch, block, warp.index, lane), AtLine(*launch.kernel, op));
  });
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
