#include "runtime/sim/access_log.h"

#include <algorithm>
#include <bit>

namespace onepass::sim {
namespace {

using Kind = AccessRun::Kind;

// The mask of the bytes [from, to) of a sector.
uint32_t ByteMask(uint32_t from, uint32_t to) {
  const uint32_t below_to = to >= 32 ? ~0u : (1u << to) - 1;
  return below_to & ~((1u << from) - 1);
}

}  // namespace

void AccessLog::Begin(int64_t l1_bytes) {
  own_.Reset(l1_bytes);
  Begin(own_);
}

void AccessLog::Begin(L1& shared) {
  runs_.clear();
  l1_ = &shared;
  sectors_requested = 0;
  useful_bytes = 0;
}

inline void AccessLog::Append(AccessRun run) {
  if (!runs_.empty()) {
    AccessRun& last = runs_.back();
    const bool joins = last.kind == run.kind && last.eviction == run.eviction;
    if (joins && run.kind == Kind::kPartialWrite && last.sector == run.sector) {
      last.count |= run.count;
      return;
    }
    if (joins && run.kind <= Kind::kWrite && last.sector + last.count == run.sector) {
      last.count += run.count;
      return;
    }
  }
  runs_.push_back(run);
}

// The sectors of one line that L1 does not have.
inline void AccessLog::ReadLine(uint64_t line, uint32_t wanted, const CachePolicy& policy) {
  uint32_t missing = l1_->Miss(line, wanted, policy.fill_l1);
  while (missing != 0) {
    const int begin = std::countr_zero(missing);
    const int length = std::countr_one(missing >> begin);
    Append({line * 4 + begin, static_cast<uint32_t>(length), Kind::kRead, policy.eviction});
    missing &= ~(((1u << length) - 1) << begin);
  }
}

void AccessLog::ReadSectors(uint64_t first, uint64_t last, const CachePolicy& policy) {
  if (!policy.use_l1) {
    Append({first, static_cast<uint32_t>(last - first + 1), Kind::kRead, policy.eviction});
    return;
  }
  for (uint64_t sector = first; sector <= last;) {
    const uint64_t line = sector >> 2;
    const uint64_t line_last = std::min(last, line * 4 + 3);
    ReadLine(line, ((2u << (line_last & 3)) - 1) & ~((1u << (sector & 3)) - 1), policy);
    sector = line_last + 1;
  }
}

void AccessLog::Read(uint64_t address, int64_t bytes, const CachePolicy& policy) {
  const uint64_t first = address >> kSectorBits;
  const uint64_t last = (address + bytes - 1) >> kSectorBits;
  sectors_requested += static_cast<int64_t>(last - first + 1);
  useful_bytes += bytes;
  ReadSectors(first, last, policy);
}

void AccessLog::Write(uint64_t address, int64_t bytes, const CachePolicy& policy) {
  uint64_t first = address >> kSectorBits;
  const uint64_t end = address + bytes;
  const uint64_t last = (end - 1) >> kSectorBits;
  sectors_requested += static_cast<int64_t>(last - first + 1);
  useful_bytes += bytes;
  const uint32_t head = address & 31;
  const uint32_t tail = static_cast<uint32_t>(end - (last << kSectorBits));
  if (first == last) {
    const uint32_t mask = ByteMask(head, tail);
    Append({first, mask == ~0u ? 1 : mask, mask == ~0u ? Kind::kWrite : Kind::kPartialWrite,
            policy.eviction});
    return;
  }
  if (head != 0) Append({first++, ByteMask(head, 32), Kind::kPartialWrite, policy.eviction});
  const uint64_t whole_end = tail == 32 ? last + 1 : last;
  if (whole_end > first) {
    Append({first, static_cast<uint32_t>(whole_end - first), Kind::kWrite, policy.eviction});
  }
  if (tail != 32) Append({last, ByteMask(0, tail), Kind::kPartialWrite, policy.eviction});
}

int AccessLog::Collect(const uint64_t* addresses, uint32_t lanes, int64_t bytes) {
  int count = 0;
  uint64_t highest = 0;  // lanes mostly ascend: what is above all so far needs no search
  for (; lanes != 0; lanes &= lanes - 1) {
    const uint64_t address = addresses[std::countr_zero(lanes)];
    for (int64_t done = 0;
         done < bytes;) {  // a vector of 32 bytes or a misaligned one: two sectors
      const uint64_t sector = (address + done) >> kSectorBits;
      const uint32_t from = (address + done) & 31;
      const uint32_t to = static_cast<uint32_t>(std::min<int64_t>(32, from + bytes - done));
      int at = sector > highest ? -1 : count - 1;
      while (at >= 0 && touched_[at].sector != sector) --at;
      if (at < 0) touched_[at = count++] = {sector, 0};
      highest = std::max(highest, sector);
      touched_[at].bytes |= ByteMask(from, to);
      done += to - from;
    }
  }
  sectors_requested += count;
  for (int i = 0; i < count; ++i) useful_bytes += std::popcount(touched_[i].bytes);
  return count;
}

void AccessLog::Gather(const uint64_t* addresses, uint32_t lanes, int64_t bytes,
                       const CachePolicy& policy) {
  const int count = Collect(addresses, lanes, bytes);
  for (int i = 0; i < count; ++i) ReadSectors(touched_[i].sector, touched_[i].sector, policy);
}

void AccessLog::Scatter(const uint64_t* addresses, uint32_t lanes, int64_t bytes,
                        const CachePolicy& policy) {
  const int count = Collect(addresses, lanes, bytes);
  for (int i = 0; i < count; ++i) {
    const bool whole = touched_[i].bytes == ~0u;
    Append({touched_[i].sector, whole ? 1 : touched_[i].bytes,
            whole ? Kind::kWrite : Kind::kPartialWrite, policy.eviction});
  }
}

void AccessLog::Update(const uint64_t* addresses, uint32_t lanes, int64_t bytes) {
  const int count = Collect(addresses, lanes, bytes);
  for (int i = 0; i < count; ++i) Append({touched_[i].sector, 1, Kind::kUpdate, Eviction::kNormal});
}

void AccessLog::Prefetch(uint64_t address) {
  Append({address >> kSectorBits, 1, Kind::kRead, Eviction::kNormal});
}

}  // namespace onepass::sim
