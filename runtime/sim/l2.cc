#include "runtime/sim/l2.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/sim/memory.h"

namespace onepass::sim {
namespace {

// A queue of few lines stays small, so that the host's caches hold it.
constexpr uint32_t kQueueSlack = 1 << 14;

}  // namespace

L2::L2(int64_t bytes)
    : capacity_lines_(std::max<int64_t>(bytes >> kLineBits, 1)),
      queue_room_(static_cast<uint32_t>(2 * capacity_lines_) + kQueueSlack) {}

void L2::MakeGranule(uint64_t granule) {
  if (granule >= granules_.size()) granules_.resize(granule + 1);
  if (!spare_.empty()) {
    granules_[granule] = std::move(spare_.back());
    spare_.pop_back();
  } else {
    granules_[granule].lines = std::make_unique<Line[]>(size_t{1} << kLinesPerGranuleBits);
  }
}

inline L2::Line& L2::LineOf(uint64_t sector, uint32_t& index) {
  const uint64_t line = (sector >> 2) - (GlobalMemory::kBase >> kLineBits);
  const uint64_t granule = line >> kLinesPerGranuleBits;
  index = static_cast<uint32_t>(line);
  if (granule >= granules_.size() || granules_[granule].lines == nullptr) [[unlikely]] {
    MakeGranule(granule);
  }
  return At(index);
}

uint32_t* L2::MasksOf(uint32_t line) {
  Granule& granule = granules_[line >> kLinesPerGranuleBits];
  if (granule.masks == nullptr) {
    granule.masks = std::make_unique<uint32_t[]>(size_t{4} << kLinesPerGranuleBits);
  }
  return &granule.masks[4 * (line & kLineInGranule)];
}

// Whether the entry counts.
inline bool L2::IsAt(const Queue& queue, uint32_t place) {
  const Line& line = At(queue.lines[place]);
  return line.queue == 1 + (&queue - queues_) && line.place == place;
}

template <class Fn>
void L2::EachCached(Fn fn) {
  for (const Queue& queue : queues_) {
    for (uint32_t i = queue.first; i < queue.end; ++i) {
      if (IsAt(queue, i)) fn(queue.lines[i], At(queue.lines[i]));
    }
  }
}

// Where at least half of the entries count the queue grows, otherwise the others are dropped: about
// one step an entry in all.
void L2::MakeRoom(Queue& queue) {
  if (queue.lines == nullptr) {
    queue.lines = std::make_unique_for_overwrite<uint32_t[]>(queue_room_);
  }
  if (queue.end < queue_room_ && 2 * queue.cached >= queue.end) {
    queue.full = std::min(2 * queue.end + kQueueSlack, queue_room_);
    return;
  }
  uint32_t kept = 0;
  for (uint32_t i = queue.first; i < queue.end; ++i) {
    if (!IsAt(queue, i)) continue;
    At(queue.lines[i]).place = kept;
    queue.lines[kept++] = queue.lines[i];
  }
  queue.first = 0;
  queue.end = kept;
  queue.full = std::min(2 * kept + kQueueSlack, queue_room_);
}

inline void L2::Touch(uint32_t index, Line& line, Eviction eviction) {
  Queue& queue = queues_[static_cast<int>(eviction)];
  const auto number = static_cast<uint8_t>(1 + static_cast<int>(eviction));
  if (line.queue == number && line.place + 1 == queue.end) return;
  if (queue.end == queue.full) [[unlikely]]
    MakeRoom(queue);
  if (line.queue == 0) {
    if (++cached_lines_ > capacity_lines_) EvictOne();
  } else {
    --queues_[line.queue - 1].cached;
  }
  ++queue.cached;
  line.queue = number;
  line.place = queue.end;
  queue.lines[queue.end++] = index;
}

void L2::WriteBack(const Line& line) {
  counts_.dram_read_bytes += 32 * std::popcount(line.partial);  // the fill
  counts_.dram_write_bytes += 32 * std::popcount(line.dirty);
}

void L2::Forget(uint32_t index, Line& line) {
  if (line.partial != 0) std::fill_n(MasksOf(index), 4, 0u);
  line = Line();
}

void L2::EvictOne() {
  for (const Eviction eviction : {Eviction::kFirst, Eviction::kNormal, Eviction::kLast}) {
    Queue& queue = queues_[static_cast<int>(eviction)];
    while (queue.first < queue.end) {
      const uint32_t oldest = queue.first++;
      if (!IsAt(queue, oldest)) continue;
      const uint32_t index = queue.lines[oldest];
      WriteBack(At(index));
      Forget(index, At(index));
      --cached_lines_;
      --queue.cached;
      return;
    }
  }
}

// How many of the sectors come from DRAM.
inline uint32_t L2::Fetch(uint32_t index, Line& line, uint32_t sectors) {
  const uint32_t missing = sectors & ~line.valid;
  if ((line.partial & missing) != 0) [[unlikely]] {
    uint32_t* masks = MasksOf(index);
    for (int i = 0; i < 4; ++i) {
      if ((missing >> i & 1) != 0) masks[i] = 0;
    }
  }
  line.valid |= missing;
  line.partial &= ~missing;
  return static_cast<uint32_t>(std::popcount(missing));
}

inline void L2::Overwrite(uint32_t index, Line& line, uint32_t sectors) {
  if ((line.partial & sectors) != 0) [[unlikely]] {
    uint32_t* masks = MasksOf(index);
    for (int i = 0; i < 4; ++i) masks[i] = (sectors >> i & 1) != 0 ? 0 : masks[i];
  }
  line.partial &= ~sectors;
  line.valid |= sectors;
  line.dirty |= sectors;
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

template <AccessRun::Kind kKind>
void L2::ReplayLines(uint64_t first, uint64_t end, const AccessRun& run) {
  using Kind = AccessRun::Kind;
  Queue& queue = queues_[static_cast<int>(run.eviction)];
  if (queue.end >= queue.full) [[unlikely]]
    MakeRoom(queue);
  int64_t fetched = 0;
  for (uint64_t sector = first; sector < end;) {
    const uint64_t line_end = std::min(end, (sector | 3) + 1);
    const uint32_t bits = ((1u << (line_end - sector)) - 1) << (sector & 3);
    uint32_t index;
    Line& line = LineOf(sector, index);
    Touch(index, line, run.eviction);
    if (kKind == Kind::kRead || kKind == Kind::kUpdate) fetched += Fetch(index, line, bits);
    if (kKind == Kind::kUpdate) line.dirty |= bits;
    if (kKind == Kind::kWrite) Overwrite(index, line, bits);
    if (kKind == Kind::kPartialWrite) {
      WritePartial(index, line, static_cast<int>(sector & 3), run.count);
    }
    sector = line_end;
  }
  counts_.dram_read_bytes += 32 * fetched;
}

void L2::Replay(const AccessRun& run, uint32_t skip, uint32_t sectors) {
  using Kind = AccessRun::Kind;
  const uint64_t first = run.sector + skip;
  const uint64_t end = first + sectors;
  (run.kind == Kind::kRead ? counts_.l2_read_bytes : counts_.l2_write_bytes) += 32 * sectors;
  switch (run.kind) {
    case Kind::kRead:
      return ReplayLines<Kind::kRead>(first, end, run);
    case Kind::kWrite:
      return ReplayLines<Kind::kWrite>(first, end, run);
    case Kind::kPartialWrite:
      return ReplayLines<Kind::kPartialWrite>(first, end, run);
    case Kind::kUpdate:
      return ReplayLines<Kind::kUpdate>(first, end, run);
  }
}

void L2::Flush() {
  EachCached([&](uint32_t index, Line& line) {
    WriteBack(line);
    Forget(index, line);
  });
  ForgetGranules();
}

void L2::Clear() {
  EachCached([&](uint32_t index, Line& line) { Forget(index, line); });
  ForgetGranules();
}

// After their lines: what lies in the cache is all that has a state, the granules are as new.
void L2::ForgetGranules() {
  for (Granule& granule : granules_) {
    if (granule.lines != nullptr && spare_.size() < kMostSpare) {
      spare_.push_back(std::move(granule));
    }
  }
  granules_.clear();
  for (Queue& queue : queues_) queue.first = queue.end = queue.cached = queue.full = 0;
  cached_lines_ = 0;
}

}  // namespace onepass::sim
