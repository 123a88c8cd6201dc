// The arguments of a kernel as the `--arg` flags of `onepass ptx` state them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/problem.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/new_files.h"
#include "runtime/sim/gpu.h"

namespace onepass::cli {

struct PtxArgument {
  enum class Kind {
    kValue,   // u32:V u64:V s32:V f32:V f64:V
    kBuffer,  // in:HEX out:BYTES npy:FILE
    kSame,    // same:K
  };
  Kind kind = Kind::kValue;
  std::string text;       // as it was given
  uint64_t bits = 0;      // of a value
  int bytes = 8;          // of the parameter that it fills
  size_t same = 0;        // of same:K
  int64_t size = 0;       // of a buffer
  std::string data;       // what it holds at first; empty: zeros
  std::string descr;      // NumPy's name of its elements
  int element_bytes = 1;  // of a buffer
  Dims shape;             // of a buffer, for --save
  bool printed = false;   // out:
};

// One for each text, in order. kInvalidArgument names the argument and says what is wrong.
absl::StatusOr<std::vector<PtxArgument>> ReadPtxArguments(llvm::ArrayRef<std::string> texts);

// Places the buffers on `gpu`, and lays the parameters of `entry` out. `addresses` has one place
// for each argument: the buffer's address, 0 for a value. kInvalidArgument where the number or the
// size of the arguments is not the entry's.
absl::StatusOr<std::vector<uint8_t>> PackPtxArguments(const sim::Entry& entry,
                                                      llvm::ArrayRef<PtxArgument> arguments,
                                                      sim::Gpu& gpu,
                                                      std::vector<uint64_t>& addresses);

// Writes a buffer's bytes as a .npy file: with the type and shape of the file it came from, else as
// bytes.
absl::Status SavePtxArgument(const PtxArgument& argument, const std::string& bytes,
                             const std::string& path, NewFiles& files);

}  // namespace onepass::cli
