// The L2 of a simulated GPU and the DRAM traffic behind it.
//
// Capacity in 128-byte lines, true LRU over the whole capacity, 32-byte sectors that are valid and
// dirty one by one, write-back. Lines marked evict-first go before all others, evict-last after all
// others. A sector that was written in part costs one fill read, when it is read or written back
// before all of its bytes have been written.
//
// Not thread-safe: the runs of all blocks are replayed by one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/sim/access_log.h"
#include "runtime/sim/counts.h"

namespace onepass::sim {

class L2 {
 public:
  explicit L2(int64_t bytes);

  // Replays `sectors` sectors of a run from its `skip`-th on. Counts go into counts().
  void Replay(const AccessRun& run, uint32_t skip, uint32_t sectors);
  // Writes dirty sectors back, counted, and forgets everything.
  void Flush();
  // Forgets everything, uncounted.
  void Clear();
  Counts& counts() { return counts_; }

 private:
  // State of a line of the address space.
  struct Line {
    uint32_t place = 0;   // in its queue
    uint8_t valid = 0;    // sectors whose 32 bytes are all known
    uint8_t dirty = 0;    // sectors with bytes that DRAM does not have
    uint8_t partial = 0;  // dirty sectors that are not valid: some bytes only, see `masks`
    uint8_t queue = 0;    // 0: not cached; 1 + Eviction
  };
  struct Granule {
    std::unique_ptr<Line[]> lines;
    std::unique_ptr<uint32_t[]> masks;  // written bytes of partial sectors, four a line
  };
  // Lines in the order of their last touches. A line that is touched again is appended again; only
  // the entry at the line's place counts.
  struct Queue {
    std::unique_ptr<uint32_t[]> lines;
    uint32_t first = 0;  // entries before it do not count
    uint32_t end = 0;
    uint32_t cached = 0;  // lines, and so entries that count
    uint32_t full = 0;    // the end at which to look for room
  };

  static constexpr int kLinesPerGranuleBits = 13;  // 1 MB, as GlobalMemory's granules
  static constexpr uint32_t kLineInGranule = (1u << kLinesPerGranuleBits) - 1;
  static constexpr size_t kMostSpare = 512;  // granules kept for later: 32 MB and what masks take

  Line& At(uint32_t line) {
    return granules_[line >> kLinesPerGranuleBits].lines[line & kLineInGranule];
  }
  Line& LineOf(uint64_t sector, uint32_t& index);
  void MakeGranule(uint64_t granule);
  uint32_t* MasksOf(uint32_t line);
  bool IsAt(const Queue& queue, uint32_t place);
  template <class Fn>
  void EachCached(Fn fn);
  void MakeRoom(Queue& queue);
  void Touch(uint32_t index, Line& line, Eviction eviction);
  void EvictOne();
  void WriteBack(const Line& line);
  void Forget(uint32_t index, Line& line);
  void ForgetGranules();
  template <AccessRun::Kind kKind>
  void ReplayLines(uint64_t first, uint64_t end, const AccessRun& run);
  uint32_t Fetch(uint32_t index, Line& line, uint32_t sectors);
  void Overwrite(uint32_t index, Line& line, uint32_t sectors);
  void WritePartial(uint32_t index, Line& line, int sector, uint32_t bytes);

  const int64_t capacity_lines_;
  const uint32_t queue_room_;  // entries
  int64_t cached_lines_ = 0;
  std::vector<Granule> granules_;
  std::vector<Granule> spare_;  // all lines as new
  Queue queues_[3];             // by Eviction
  Counts counts_;
};

}  // namespace onepass::sim
