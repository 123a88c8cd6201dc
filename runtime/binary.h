// Binary: a compiled source, as the cache keeps it and a Device loads it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace onepass {

// What one kernel takes of an SM, from the machine code; all 0 where there is only PTX.
struct KernelResources {
  std::string name;
  int registers = 0;    // 32-bit registers a thread
  int local_bytes = 0;  // local memory a thread: spilled registers, arrays that are indexed, calls
  int spill_bytes = 0;  // bytes a thread stores to spill registers; local_bytes where unknown
  int64_t static_shared_bytes = 0;  // a block, without what the system reserves
  int64_t code_bytes = 0;           // of instructions, 16 bytes each

  bool operator==(const KernelResources&) const = default;
};

struct Binary {
  std::string arch;            // as asked for: "sm_90"
  std::vector<uint8_t> cubin;  // machine code; empty where the compiler does not know the arch
  std::string ptx;             // of the same compile, without the terminating zero
  std::string log;             // the compiler's warnings; deterministic
  std::vector<KernelResources> resources;  // in the order of Source::kernels
  double compile_ms = 0;                   // inside the compiler; not serialized: 0 out of a cache

  bool operator==(const Binary&) const = default;
};

// The payload that the cache keeps, and back: u32 version (1), then arch, cubin, ptx and log, each
// after its length as u64, then a u32 count of resources, each a name in the same form and five
// u64, in the order above. Integers are little-endian. ParseBinary trusts no length and accepts
// exactly what SerializeBinary wrote; anything else is DATA_LOSS.
std::string SerializeBinary(const Binary& binary);
absl::StatusOr<Binary> ParseBinary(absl::string_view bytes);

}  // namespace onepass
