#include "runtime/sim/l2.h"

#include <algorithm>
#include <bit>

#include "runtime/sim/memory.h"

namespace onepass::sim {

// Line 0 of the address space is never a buffer's: index 0 ends the lists.
L2::L2(int64_t bytes) : capacity_lines_(std::max<int64_t>(bytes >> kLineBits, 1)) {}

uint32_t L2::LineOf(uint64_t sector) {
  const uint64_t line = (sector >> 2) - (GlobalMemory::kBase >> kLineBits);
  const uint64_t granule = line >> kLinesPerGranuleBits;
  if (granule >= granules_.size()) granules_.resize(granule + 1);
  if (granules_[granule].lines == nullptr) {
    granules_[granule].lines = std::make_unique<Line[]>(size_t{1} << kLinesPerGranuleBits);
  }
  return static_cast<uint32_t>(line);
}

uint32_t* L2::MasksOf(uint32_t line) {
  Granule& granule = granules_[line >> kLinesPerGranuleBits];
  if (granule.masks == nullptr) {
    granule.masks = std::make_unique<uint32_t[]>(size_t{4} << kLinesPerGranuleBits);
  }
  return &granule.masks[4 * (line & kLineInGranule)];
}

void L2::Unlink(uint32_t index, Line& line) {
  List& list = lists_[line.list];
  (line.newer != 0 ? At(line.newer).older : list.newest) = line.older;
  (line.older != 0 ? At(line.older).newer : list.oldest) = line.newer;
}

void L2::PushNewest(uint32_t index, Line& line, int which) {
  List& list = lists_[which];
  line.list = static_cast<uint8_t>(which);
  line.newer = 0;
  line.older = list.newest;
  (list.newest != 0 ? At(list.newest).newer : list.oldest) = index;
  list.newest = index;
}

void L2::WriteBack(uint32_t index, Line& line) {
  counts_.dram_read_bytes += 32 * std::popcount(line.partial);  // the fill
  counts_.dram_write_bytes += 32 * std::popcount(line.dirty);
  if (line.partial != 0) std::fill_n(MasksOf(index), 4, 0u);
}

void L2::EvictOne() {
  for (const Eviction eviction : {Eviction::kFirst, Eviction::kNormal, Eviction::kLast}) {
    const uint32_t oldest = lists_[1 + static_cast<int>(eviction)].oldest;
    if (oldest == 0) continue;
    Line& line = At(oldest);
    WriteBack(oldest, line);
    Unlink(oldest, line);
    line = Line();
    --cached_lines_;
    return;
  }
}

L2::Line& L2::Touch(uint32_t index, Eviction eviction) {
  Line& line = At(index);
  const int list = 1 + static_cast<int>(eviction);
  if (line.list == list && lists_[list].newest == index) return line;
  if (line.list != 0) {
    Unlink(index, line);
  } else {
    if (cached_lines_ >= capacity_lines_) EvictOne();
    ++cached_lines_;
  }
  PushNewest(index, line, list);
  return line;
}

void L2::Read(uint32_t index, Line& line, uint32_t sectors) {
  const uint32_t missing = sectors & ~line.valid;
  counts_.dram_read_bytes += 32 * std::popcount(missing);
  if ((line.partial & missing) != 0) {
    uint32_t* masks = MasksOf(index);
    for (int i = 0; i < 4; ++i) {
      if ((missing >> i & 1) != 0) masks[i] = 0;
    }
  }
  line.valid |= missing;
  line.partial &= ~missing;
}

void L2::WritePartial(uint32_t index, Line& line, int sector, uint32_t bytes) {
  const uint8_t bit = static_cast<uint8_t>(1 << sector);
  line.dirty |= bit;
  if ((line.valid & bit) != 0) return;
  uint32_t& mask = MasksOf(index)[sector];
  mask |= bytes;
  line.partial |= bit;
  if (mask == ~0u) {
    mask = 0;
    line.partial &= ~bit;
    line.valid |= bit;
  }
}

void L2::Replay(const AccessRun& run, uint32_t skip, uint32_t sectors) {
  using Kind = AccessRun::Kind;
  const uint64_t first = run.sector + skip;
  const uint64_t end = first + sectors;
  (run.kind == Kind::kRead ? counts_.l2_read_bytes : counts_.l2_write_bytes) += 32 * sectors;
  for (uint64_t sector = first; sector < end;) {
    const uint64_t line_end = std::min(end, (sector | 3) + 1);
    const uint32_t bits = ((1u << (line_end - sector)) - 1) << (sector & 3);
    const uint32_t index = LineOf(sector);
    Line& line = Touch(index, run.eviction);
    switch (run.kind) {
      case Kind::kRead:
        Read(index, line, bits);
        break;
      case Kind::kUpdate:
        Read(index, line, bits);
        line.dirty |= bits;
        break;
      case Kind::kWrite:
        if ((line.partial & bits) != 0) {
          uint32_t* masks = MasksOf(index);
          for (int i = 0; i < 4; ++i) masks[i] = (bits >> i & 1) != 0 ? 0 : masks[i];
        }
        line.partial &= ~bits;
        line.valid |= bits;
        line.dirty |= bits;
        break;
      case Kind::kPartialWrite:
        WritePartial(index, line, static_cast<int>(sector & 3), run.count);
        break;
    }
    sector = line_end;
  }
}

void L2::Flush() {
  for (const List& list : lists_) {
    for (uint32_t index = list.newest; index != 0; index = At(index).older) {
      WriteBack(index, At(index));
    }
  }
  Clear();
}

void L2::Clear() {
  granules_.clear();
  for (List& list : lists_) list = List();
  cached_lines_ = 0;
}

}  // namespace onepass::sim
