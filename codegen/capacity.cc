#include "codegen/capacity.h"

#include <algorithm>

namespace onepass {
namespace {

constexpr int kMaxUnrolledVectors = 64;
constexpr int kMaxUnrolledHalves = 48;
// Every block uses 1 KB of shared memory for the system since compute capability 8.0.
constexpr int64_t kSystemSharedBytes = 1024;

bool IsCheap(ActivationKind act) {
  return act == ActivationKind::kIdentity || act == ActivationKind::kRelu ||
         act == ActivationKind::kRelu6 || act == ActivationKind::kLeakyRelu ||
         act == ActivationKind::kHardswish;
}

}  // namespace

int64_t HeldSharedBytes(const DeviceSpec& device, int64_t static_shared_bytes) {
  return std::max<int64_t>(0, device.shared_bytes_per_block - static_shared_bytes);
}

int HeldRegisterVectors(int vector_bytes, int register_words) {
  return std::min(vector_bytes == 2 ? kMaxUnrolledHalves : kMaxUnrolledVectors,
                  register_words * 4 / vector_bytes);
}

int ParamRegisters(const Key& key) {
  if (key.param_run != 1) return 0;
  const int tensors = (key.has_scale() ? 1 : 0) + (key.has_bias() ? 1 : 0);
  return tensors * key.vector() * static_cast<int>(SizeOf(AccumulationType(key.dtype))) / 4;
}

int WorkingRegisters(const Key& key) {
  const bool packed = key.dtype == DType::kBF16 || key.access_bytes == 2;
  const int arithmetic = key.dtype == DType::kF64 ? 16 : (packed ? 4 : 0);
  return 48 + arithmetic + (IsCheap(key.act) ? 0 : 16) + ParamRegisters(key);
}

int SquaresValues(const Key& key) { return SizeOf(key.dtype) == 2 ? 1 : 2; }

int64_t SpreadBytes(const Key& key) {
  return int64_t{1 + SquaresValues(key)} * SizeOf(AccumulationType(key.dtype));
}

int UnrolledEpilogues(const Key& key, int register_vectors) {
  if (IsCheap(key.act)) return register_vectors;
  // Exponentials of doubles, interleaved, need many registers.
  if (key.dtype == DType::kF64) return std::min(register_vectors, 2 / key.vector());
  // An even number, for images that share a register.
  return std::min(register_vectors, std::max(2, 8 / key.vector()));
}

int ResidentBlocks(const DeviceSpec& device, int threads, int registers, int64_t shared_bytes) {
  const int64_t rounded = (registers + 7) / 8 * 8;
  int64_t blocks = std::min<int64_t>(device.max_threads_per_sm / threads, device.max_blocks_per_sm);
  blocks = std::min(blocks, device.registers_per_sm / (rounded * threads));
  if (shared_bytes > 0) {
    blocks = std::min(blocks, device.shared_bytes_per_sm / (shared_bytes + kSystemSharedBytes));
  }
  return static_cast<int>(std::max<int64_t>(blocks, 1));
}

}  // namespace onepass
