// TensorPlaces: from addresses in the order of a problem's tensors to Buffers, with the checks that
// keep a kernel inside its memory.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "codegen/key.h"
#include "codegen/problem.h"
#include "codegen/roles.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace onepass {

// Immutable; thread safe.
class TensorPlaces {
 public:
  explicit TensorPlaces(const Problem& problem);

  // In the order that addresses come in: inputs first.
  const llvm::SmallVector<TensorSpec, 8>& specs() const { return specs_; }
  // The index of the tensor whose memory tensor `index` has, or -1.
  int shares(int index) const { return shares_[index]; }

  // One address a tensor. kInvalidArgument, naming the tensor, where their number is not that of
  // the tensors, one is 0 or not aligned to its element, a tensor that shares another's memory has
  // another address than that (0 will do), or a written tensor overlaps another one. Empty tensors
  // lie nowhere. Hot: neither allocates nor locks where all is well.
  absl::Status Place(llvm::ArrayRef<uint64_t> addresses, Buffers& buffers) const;

 private:
  // A tensor that shares nobody's memory and is not empty.
  struct Owner {
    Role role;
    bool written;  // by itself or by one that shares its memory
    int index;     // of its spec
    int64_t bytes;
    uint64_t misaligned;  // the bits that an address must not have
  };

  int IndexOf(Role role, int stage) const;
  absl::Status BadAddress(const Owner& owner, uint64_t address) const;
  absl::Status Overlap(const Owner& written, const Owner& other) const;
  absl::Status CheckShared(llvm::ArrayRef<uint64_t> addresses) const;
  absl::Status CheckOverlaps(llvm::ArrayRef<uint64_t> addresses) const;

  llvm::SmallVector<TensorSpec, 8> specs_;
  llvm::SmallVector<int, 8> shares_;
  llvm::SmallVector<Owner, 8> owners_;  // the written ones first
  int written_ = 0;                     // how many are
};

}  // namespace onepass
