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
  // State of a line of the address space; `list` says whether the line is in the cache.
  struct Line {
    uint32_t newer = 0;
    uint32_t older = 0;
    uint8_t valid = 0;    // sectors whose 32 bytes are all known
    uint8_t dirty = 0;    // sectors with bytes that DRAM does not have
    uint8_t partial = 0;  // dirty sectors that are not valid: some bytes only, see `masks`
    uint8_t list = 0;     // 0: not cached; 1 + Eviction
  };
  struct Granule {
    std::unique_ptr<Line[]> lines;
    std::unique_ptr<uint32_t[]> masks;  // written bytes of partial sectors, four a line
  };
  struct List {
    uint32_t newest = 0;
    uint32_t oldest = 0;
  };

  static constexpr int kLinesPerGranuleBits = 13;  // 1 MB, as GlobalMemory's granules

  Line& At(uint32_t line) {
    return granules_[line >> kLinesPerGranuleBits].lines[line & kLineInGranule];
  }
  uint32_t* MasksOf(uint32_t line);
  uint32_t LineOf(uint64_t sector);
  Line& Touch(uint32_t index, Eviction eviction);
  void Unlink(uint32_t index, Line& line);
  void PushNewest(uint32_t index, Line& line, int list);
  void EvictOne();
  void WriteBack(uint32_t index, Line& line);
  void Read(uint32_t index, Line& line, uint32_t sectors);
  void WritePartial(uint32_t index, Line& line, int sector, uint32_t bytes);

  static constexpr uint32_t kLineInGranule = (1u << kLinesPerGranuleBits) - 1;

  const int64_t capacity_lines_;
  int64_t cached_lines_ = 0;
  std::vector<Granule> granules_;
  List lists_[4];  // by Line::list
  Counts counts_;
};

}  // namespace onepass::sim
