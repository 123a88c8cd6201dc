#include "runtime/sim/launch_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "absl/strings/str_format.h"

namespace onepass::sim {
namespace {

constexpr int64_t kSharedGap = 1024;  // a multiple of every alignment that there is

template <class T>
void FillRow(uint8_t* row, T value) {
  T* lanes = reinterpret_cast<T*>(row);
  std::fill_n(lanes, 32, value);
}

uint64_t ParameterValue(const Constant& constant, llvm::ArrayRef<uint8_t> parameters) {
  const int bits = BitsOf(constant.type);
  uint64_t value = 0;
  std::memcpy(&value, parameters.data() + constant.bits, bits / 8);
  if (IsSigned(constant.type) && bits < 64 && (value >> (bits - 1) & 1) != 0) {
    value |= ~uint64_t{0} << bits;
  }
  return value;
}

}  // namespace

void PlaceShared(Launch& launch, bool checked) {
  const Kernel& kernel = *launch.kernel;
  int64_t gaps = 0;
  for (const SharedVariable& variable : kernel.shared) {
    if (!variable.dynamic && variable.offset > 0 && checked) gaps += kSharedGap;
    launch.shared_begin.push_back(variable.offset + gaps);
  }
  int64_t end = kernel.static_shared_bytes + gaps;
  if (checked && end > 0 && launch.dynamic_shared_bytes > 0) end += kSharedGap;
  launch.dynamic_shared_start = (end + 127) / 128 * 128;
  launch.shared_bytes = launch.dynamic_shared_bytes > 0
                            ? launch.dynamic_shared_start + launch.dynamic_shared_bytes
                            : end;
  if (checked) launch.shared_usable.Reset(launch.shared_bytes);
  for (size_t i = 0; i < kernel.shared.size(); ++i) {
    const SharedVariable& variable = kernel.shared[i];
    if (variable.dynamic) launch.shared_begin[i] = launch.dynamic_shared_start;
    if (checked) launch.shared_usable.Add(launch.shared_begin[i], variable.bytes);
  }
  if (checked) {
    launch.shared_usable.Add(launch.dynamic_shared_start, launch.dynamic_shared_bytes);
  }
}

absl::Status CheckState(const Launch& launch, uint64_t blocks, int64_t limit) {
  const Kernel& kernel = *launch.kernel;
  const int64_t of_warp = kernel.register_bytes + 32 * kernel.local_bytes;
  const int64_t bytes =
      static_cast<int64_t>(blocks) * (of_warp * launch.warps + launch.shared_bytes);
  if (bytes <= limit) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "%s: %d resident blocks of %d warps need %d MB for %d bytes of local memory a thread, "
      "registers and shared memory; %d MB are allowed",
      kernel.name, blocks, launch.warps, bytes >> 20, kernel.local_bytes, limit >> 20));
}

AlignedBytes ConstantsOf(const Launch& launch, llvm::ArrayRef<uint64_t> variables,
                         llvm::ArrayRef<uint8_t> parameters) {
  const Kernel& kernel = *launch.kernel;
  AlignedBytes rows(
      static_cast<uint8_t*>(::operator new[](kernel.constant_bytes + 64, std::align_val_t(64))));
  for (const Constant& constant : kernel.constants) {
    uint64_t value = constant.bits;
    if (constant.kind == Constant::Kind::kVariable) value += variables[constant.index];
    if (constant.kind == Constant::Kind::kParameter) value = ParameterValue(constant, parameters);
    if (constant.kind == Constant::Kind::kDynamicShared) value += launch.dynamic_shared_start;
    if (constant.kind == Constant::Kind::kShared) {
      value += launch.shared_begin[constant.index] - kernel.shared[constant.index].offset;
    }
    uint8_t* row = rows.get() + constant.offset;
    if (constant.row == RowClass::k64) {
      FillRow<uint64_t>(row, value);
    } else if (constant.row == RowClass::k32) {
      FillRow<uint32_t>(row, static_cast<uint32_t>(value));
    } else {
      const uint32_t mask = static_cast<uint32_t>(value);
      std::memcpy(row, &mask, sizeof(mask));
    }
  }
  return rows;
}

}  // namespace onepass::sim
