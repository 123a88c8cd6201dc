// The checkers that GpuOptions::sanitize turns on: races, uninitialised reads, masks and barriers
// that do not fit. One Checker watches one launch; what runs tells it what it does.
//
// Not thread-safe: the blocks of a launch that is checked run one at a time.
//
// A copy that runs beside its thread is a thread of its own (CopyTag): it is ordered behind what
// its issuer had done, and whoever waits for it is ordered behind the copy.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/sim/access_cells.h"
#include "runtime/sim/addresses.h"
#include "runtime/sim/block.h"
#include "runtime/sim/byte_set.h"
#include "runtime/sim/copies.h"
#include "runtime/sim/finding.h"
#include "runtime/sim/order.h"
#include "runtime/sim/race_check.h"
#include "runtime/sim/register_check.h"

namespace onepass::sim {

// Of exec_control.cc: whether nothing but jumps lies between `op` and the thread's exit.
bool LeadsToExit(const Op* op);
// The operation's place in its kernel.
uint32_t IndexOf(const Warp& warp, const Op& op);
// "read", "asynchronous write"
std::string VerbOf(AccessRecord::Kind kind, bool copy = false);

// The records of accesses to some memory.
struct AccessRecords {
  static constexpr size_t kMost = size_t{1} << 26;
  // Of `mine`; *latest, where it is not null, remembers the index for the next time.
  uint32_t IndexFor(const AccessRecord& mine, uint32_t* latest);
  std::vector<AccessRecord> all;
};

// What an mbarrier hands over: arrivals of the phase that runs, and of those that have ended.
struct MbarrierOrder {
  Released arrived;
  Released ended;
};

// Those who used a block's shared memory and must have finished before it exits: other blocks'
// threads and bulk copies.
struct Visitor {
  AccessRecord last;
  uint32_t lanes = 0;
};

// What is checked of one block.
struct BlockChecks {
  void Start(const Block& block);

  BlockOrder order;
  AccessCells cells;  // of shared memory
  ByteSet written;    // of shared memory
  ByteSet written_local;
  AccessRecords records;                                   // of accesses to shared memory
  absl::flat_hash_map<uint64_t, Released> words;           // of shared memory, by offset
  Joint joints[16];                                        // of barriers of a part of the block
  absl::flat_hash_map<uint64_t, MbarrierOrder> mbarriers;  // by offset
  absl::flat_hash_map<uint64_t, Visitor> visitors;         // by block and warp
  std::vector<uint32_t> copies;                            // instructions that copy, by warp
  std::vector<uint32_t> astray;  // by warp: lanes past an aligned barrier where others wait
  bool exited = false;
  // kLatest for each warp: the records that it used last, so that loops use them again.
  static constexpr uint32_t kLatest = 32;
  std::vector<uint32_t> latest_shared;
  std::vector<uint32_t> latest_global;
  std::vector<RegisterCheck> registers;  // by warp
};

class Checker {
 public:
  Checker(GlobalMemory& memory, Findings& findings) : memory_(memory), findings_(findings) {}

  // What an operation is about to do to memory for the executing lanes.
  struct Doing {
    AccessRecord::Kind kind = AccessRecord::Kind::kRead;
    int bytes = 0;          // of a lane
    int element_bytes = 0;  // of one value in memory
    int address = 0;        // which r[]
    // Of a read or write: r[values...] hold the values; of a write, in rows of so many bytes a
    // lane.
    int values = 1;  // negative: the caller looks after them
    int row_bytes = 0;
    bool copy = false;  // done by an asynchronous copy
  };
  // False: the access is out of bounds or misaligned, the warp has been stopped.
  bool Access(const Op& op, Warp& warp, const Doing& doing);

  void Fence(Warp& warp, bool block_scope);
  void SyncWarp(Warp& warp, uint32_t mask);
  // The warp arrives at a barrier of its block. When the barrier completes, those that wait there
  // still do.
  void Arrive(Warp& warp, const BarrierRequest& request);
  void Complete(Block& block, int barrier);
  // The running path waits at an aligned barrier for the other lanes of its warp. Lanes that go
  // straight to the end may: they have returned early.
  void WaitForWarp(Warp& warp);
  // The executing lanes exit.
  void ExitLanes(Warp& warp, const Op& op);
  // All warps of the block have exited.
  void Exit(Block& block);
  // A lane's register gets bytes of the block's own shared memory that Access has checked.
  void Loaded(const Op& op, Warp& warp, RowRef ref, int lane, uint64_t offset, int bytes);

  // Asynchronous copies: check_async.cc. Addresses are generic, and have been found to be good.
  struct Copy {
    CopyTag tag;
    uint64_t to = 0;
    uint64_t from = 0;  // 0: values of registers
    uint32_t bytes = 0;
    uint32_t size = 0;     // of the destination
    bool updates = false;  // combines with what is there
    bool bulk = false;
  };
  CopyTag TagFor(Warp& warp);  // of one instruction
  void StartCopy(const Op& op, Warp& warp, int lane, const Copy& copy);
  // The lane has waited for its copy, or for its reads alone.
  void Waited(Warp& warp, int lane, CopyTag tag, bool reads_only);

  // mbarriers, at a generic address.
  // `creates`: initialises or ends it. All other operations may meet, and count as reads of it.
  void TouchMbarrier(const Op& op, Warp& warp, int lane, uint64_t address, bool creates);
  // `releases`: not .relaxed. `ended`: the arrival ended the phase.
  void ArriveAt(Warp& warp, int lane, uint64_t address, bool releases, bool ended);
  void WaitedAt(Warp& warp, int lane, uint64_t address, bool acquires);
  // A copy of `issuer`'s lane has been counted at the mbarrier at this place on the host.
  void CopyArrivedAt(const Warp& issuer, int lane, CopyTag tag, const uint8_t* word, bool ended);

  // The lanes use a value that is undefined because of what OriginFor described; 0: nothing.
  void ReportUse(const Warp& warp, const Op& op, uint32_t lanes, uint32_t origin,
                 std::string_view what);
  // Of a store: where its first lane's address lies.
  bool StoresToGlobal(const Op& op, const Warp& warp, int address) const;
  void Report(Finding::Kind kind, const Warp& warp, const Op& op, int lane,
              const std::string& what);

 private:
  // The memory that an access goes to, and what is known of it.
  struct Target {
    AccessCells* cells = nullptr;
    ByteSet* written = nullptr;
    AccessRecords* records = nullptr;
    std::vector<uint32_t>* latest = nullptr;  // null: of another block's memory
    absl::flat_hash_map<uint64_t, Released>* words = nullptr;
    const GlobalMemory::Buffer* buffer = nullptr;  // null: shared memory
    Block* owner = nullptr;                        // of shared memory
    uint64_t pad = 0;                              // of cells before the memory's first byte
  };
  // Where the lanes of an access go, in bytes from the memory's first.
  struct Places {
    Places(const uint64_t* offsets, uint32_t of_lanes, int bytes);
    // Known to be dense.
    explicit Places(const uint64_t* offsets)
        : offset(offsets), lanes(kAllLanes), dense(true), uniform(false) {}
    const uint64_t* offset;
    uint32_t lanes;
    bool dense;    // all lanes, each right behind the one before
    bool uniform;  // all of `lanes` at the same place
  };

  // checker.cc
  void CheckShared(const Op& op, Warp& warp, const Doing& doing, const HostBytes& bytes);
  void CheckSharedOf(const Op& op, Warp& warp, const Doing& doing, const Places& places,
                     Block& owner);
  void CheckGlobal(const Op& op, Warp& warp, const Doing& doing, const LaneAddresses& addresses);
  bool CheckContiguous(const Op& op, Warp& warp, const Doing& doing);
  Target TargetOf(const Warp& warp, const GlobalMemory::Buffer& buffer);
  AccessCells& CellsOf(const GlobalMemory::Buffer& buffer);
  bool InsideVariables(const Op& op, Warp& warp, const Doing& doing, const Places& places);
  void Check(const Op& op, Warp& warp, const Doing& doing, const Target& target,
             const Places& places);
  // check_access.cc
  void CheckLocal(const Op& op, Warp& warp, const Doing& doing, const HostBytes& bytes);
  void CheckWritten(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                    const Places& places);
  void CheckRead(const Op& op, Warp& warp, const Doing& doing, ByteSet& written,
                 const Places& places, const std::function<std::string(uint64_t)>& place);
  void ForgetUndefined(const Op& op, const Warp& warp, const Doing& doing, ByteSet& written,
                       const Places& places);
  void CheckRace(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                 const Places& places);
  void Synchronise(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                   const Places& places);
  void Forget(const Target& target);
  // check_async.cc
  Target TargetAt(const Warp& warp, uint64_t address, uint64_t& offset);
  void CheckLane(const Op& op, Warp& warp, int lane, const Doing& doing, const AccessRecord& mine,
                 const AccessRecord& noted, const Target& target, uint64_t offset);
  void CheckPart(const Op& op, Warp& warp, int lane, const Copy& copy, bool write);
  void CheckProxy(const Op& op, Warp& warp, int lane, const Doing& doing, const Target& target,
                  uint64_t offset);
  void CarryWritten(const Warp& warp, const Copy& copy);
  MbarrierOrder& MbarrierAt(const Warp& warp, uint64_t address);
  void NoteVisit(const Op& op, Warp& warp, uint32_t lanes, Block& owner,
                 const AccessRecord& record);
  // check_report.cc
  static std::string ThreadOfRecord(const Launch& launch, const AccessRecord& record, int lane);
  std::string PlaceOf(const Launch& launch, const Doing& doing, const Target& target,
                      uint64_t offset) const;
  uint32_t OriginFor(const Warp& warp, const Op& op, int lane,
                     const std::function<std::string()>& place);
  void ReportRace(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                  const RaceCheck::Conflict& conflict);
  void ReportClash(const Op& op, Warp& warp, const Doing& doing, const Target& target,
                   uint64_t offset, int lane, int other);
  void ReportProxy(const Op& op, Warp& warp, int lane, const Doing& doing, const Target& target,
                   int64_t cell);
  void CheckMeeting(const Warp& a, const Warp& b);

  GlobalMemory& memory_;
  Findings& findings_;
  AccessRecords records_;                               // of accesses to global memory
  std::vector<std::unique_ptr<AccessCells>> cells_;     // by Buffer::id
  absl::flat_hash_map<uint64_t, Released> words_;       // of global memory, by address
  absl::flat_hash_map<uint32_t, std::string> origins_;  // uninitialised reads, by operation + 1
};

}  // namespace onepass::sim
