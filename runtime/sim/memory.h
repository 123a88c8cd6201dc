// The global memory of one simulated device: named buffers under 64-bit addresses of its own.
//
// Buffers lie in separate granules of a sparse address space, with at least a granule's gap behind
// each, so every access outside a buffer is seen. The bytes live on the host and are reserved
// lazily; fresh memory reads as zero.
//
// Threads: Allocate, Free, Read, Write and Fill must not run while a kernel does (Gpu::Launch is
// synchronous, so one caller at a time is enough). Find may be called by all threads of a launch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/sim/byte_set.h"

namespace onepass::sim {

class GlobalMemory {
 public:
  struct Buffer {
    std::string label;  // what messages call it, for example the tensor's role "x"
    uint64_t begin = 0;
    uint64_t end = 0;         // one past the last byte
    int element_bytes = 1;    // the unit in which messages state an index
    uint8_t* host = nullptr;  // the byte at `begin`
    bool read_only = false;   // a kernel's store into it is a fault
    uint32_t id = 0;          // of this memory; used once
    mutable ByteSet written;  // where the memory tracks it: by the host or by a kernel
  };

  // `track_writes`: buffers know which of their bytes have been written.
  explicit GlobalMemory(int64_t capacity_bytes, bool track_writes = false);
  ~GlobalMemory();
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  // A buffer of `bytes` (0 is allowed: any access to it is a fault) whose address is `misalign_by`
  // modulo `alignment`, a power of two up to 4096. kResourceExhausted beyond the capacity.
  absl::StatusOr<uint64_t> Allocate(int64_t bytes, int64_t alignment, int64_t misalign_by,
                                    std::string label, int element_bytes = 1);
  // `address` is what Allocate returned. kInvalidArgument for anything else, a second Free
  // included.
  absl::Status Free(uint64_t address);

  // Any range inside one buffer; kOutOfRange otherwise, with the buffer's label and the offset.
  absl::Status Read(uint64_t address, void* to, int64_t bytes) const;
  absl::Status Write(uint64_t address, const void* from, int64_t bytes);
  absl::Status Fill(uint64_t address, uint8_t value, int64_t bytes);
  void SetReadOnly(uint64_t address);  // of a buffer; later stores by kernels are faults
  void SetWritten(uint64_t address);   // all of a buffer: its zeros count

  // The buffer whose granules hold `address`, which may lie before or behind its bytes; null if
  // none.
  const Buffer* Find(uint64_t address) const {
    const uint64_t granule = (address - kBase) >> kGranuleBits;
    return granule < granules_.size() ? granules_[granule] : nullptr;
  }
  // "x[12] (byte 48 of 4096)", or how far `address` lies from which buffer.
  std::string Describe(uint64_t address) const;
  int64_t allocated_bytes() const { return allocated_bytes_; }

  static constexpr uint64_t kBase = uint64_t{0x7f} << 40;
  static constexpr int kGranuleBits = 20;

 private:
  absl::StatusOr<uint8_t*> HostRange(uint64_t address, int64_t bytes) const;
  void NoteWrite(uint64_t address, int64_t bytes);

  const int64_t capacity_bytes_;
  const bool track_writes_;
  uint32_t next_id_ = 0;
  int64_t allocated_bytes_ = 0;
  std::vector<Buffer*> granules_;  // index: (address - kBase) >> kGranuleBits
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

}  // namespace onepass::sim
