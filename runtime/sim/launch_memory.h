// What a launch keeps besides the state of its blocks: where shared variables lie, and the rows of
// constants and parameters.
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/sim/block.h"

namespace onepass::sim {

using AlignedBytes = std::unique_ptr<uint8_t[], AlignedDelete>;

// Sets where the variables of shared memory begin. A checked launch leaves gaps between them, so
// that an index beyond one is not an element of the next.
void PlaceShared(Launch& launch, bool checked);

// kResourceExhausted if the state of so many resident blocks takes more than `limit` bytes of the
// host.
absl::Status CheckState(const Launch& launch, uint64_t blocks, int64_t limit);

// Launch::constants, with the addresses of the module's variables. Shared memory has been placed.
AlignedBytes ConstantsOf(const Launch& launch, llvm::ArrayRef<uint64_t> variables,
                         llvm::ArrayRef<uint8_t> parameters);

}  // namespace onepass::sim
