// The global accesses of one block, filtered by L1, in program order.
//
// Accesses become runs of 32-byte sectors. The runs of all resident blocks are replayed into L2 in
// a fixed order, so what is counted does not depend on which host thread ran a block when.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/sim/counts.h"
#include "runtime/sim/l1.h"

namespace onepass::sim {

inline constexpr int kSectorBits = 5;
inline constexpr int kLineBits = 7;

// How long a line should stay in L2.
enum class Eviction : uint8_t { kNormal, kFirst, kLast };

struct AccessRun {
  enum class Kind : uint8_t {
    kRead,
    kWrite,         // every byte of the sectors
    kPartialWrite,  // of one sector; `count` is the mask of its bytes
    kUpdate,        // an atomic: reads and writes one sector
  };
  uint64_t sector = 0;
  uint32_t count = 0;
  Kind kind = Kind::kRead;
  Eviction eviction = Eviction::kNormal;
};

// How a load or store passes the caches. Handed on by reference: three bytes that are put together
// for a register stall on their way through the stack.
struct CachePolicy {
  Eviction eviction = Eviction::kNormal;
  bool use_l1 = true;   // look there first
  bool fill_l1 = true;  // and keep there what came from L2
};

class AccessLog {
 public:
  // Empties the log, and takes an empty L1 of its own.
  void Begin(int64_t l1_bytes);
  // Empties the log; the L1 is one that blocks share.
  void Begin(L1& shared);

  // One warp access to the `bytes` bytes from `address`, all of them used.
  void Read(uint64_t address, int64_t bytes, const CachePolicy& policy);
  void Write(uint64_t address, int64_t bytes, const CachePolicy& policy);
  // One warp access, lane by lane: `bytes` at each of the `lanes` of `addresses`.
  void Gather(const uint64_t* addresses, uint32_t lanes, int64_t bytes, const CachePolicy& policy);
  void Scatter(const uint64_t* addresses, uint32_t lanes, int64_t bytes, const CachePolicy& policy);
  void Update(const uint64_t* addresses, uint32_t lanes, int64_t bytes);
  // Loads by no warp instruction: prefetches.
  void Prefetch(uint64_t address);

  const std::vector<AccessRun>& runs() const { return runs_; }
  void ClearRuns() { runs_.clear(); }
  void SwapRuns(std::vector<AccessRun>& runs) { runs_.swap(runs); }
  int64_t sectors_requested = 0;
  int64_t useful_bytes = 0;

 private:
  struct Touched {
    uint64_t sector;
    uint32_t bytes;  // mask
  };
  // The distinct sectors of a lane-wise access; returns how many.
  int Collect(const uint64_t* addresses, uint32_t lanes, int64_t bytes);
  void ReadLine(uint64_t line, uint32_t wanted, const CachePolicy& policy);
  void ReadSectors(uint64_t first, uint64_t last, const CachePolicy& policy);
  void Append(AccessRun run);

  std::vector<AccessRun> runs_;
  L1 own_;
  L1* l1_ = &own_;
  Touched touched_[32 * 4];
};

}  // namespace onepass::sim
