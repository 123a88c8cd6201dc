// What machine code says about itself.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/binary.h"

namespace onepass {

// Reads the resources of `kernels` (unmangled names), in their order, from a cubin: a 64-bit ELF
// file whose sections .text.NAME, .nv.shared.NAME and .nv.info hold them. The attributes of
// .nv.info are those that NVIDIA's own tools print (cuobjdump -elf); an attribute that is missing
// leaves its number 0. spill_bytes is local_bytes: the file does not tell spills from arrays.
//
// DATA_LOSS for bytes that are no cubin, NOT_FOUND for a kernel that is not in it. Trusts nothing.
absl::StatusOr<std::vector<KernelResources>> ReadCubin(llvm::ArrayRef<uint8_t> cubin,
                                                       llvm::ArrayRef<std::string> kernels);

// Takes ptxas's remarks (--ptxas-options=-v) out of a compiler's log: sets spill_bytes of the
// kernels that they speak of, and returns the log without them. They hold times, which would make
// every log another.
std::string TakePtxasRemarks(absl::string_view log, std::vector<KernelResources>& kernels);

}  // namespace onepass
