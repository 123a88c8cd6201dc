#include "runtime/sim/mbarrier.h"

#include <cstring>

namespace onepass::sim {
namespace {

// Arrivals pending and expected in 20 bits each, the bytes in 21 with their sign, a mark, the
// phase, and a zero.
constexpr int kCountShift = 20;
constexpr int kBytesShift = 40;
constexpr int kMarkShift = 61;
constexpr int kPhaseShift = 62;
constexpr int64_t kBytesBias = 1 << 20;

}  // namespace

Mbarrier Mbarrier::Of(uint32_t count) {
  Mbarrier barrier;
  barrier.pending_ = barrier.count_ = count;
  return barrier;
}

uint64_t Mbarrier::Bits() const {
  return uint64_t{pending_} | uint64_t{count_} << kCountShift |
         static_cast<uint64_t>(bytes_ + kBytesBias) << kBytesShift | uint64_t{1} << kMarkShift |
         static_cast<uint64_t>(odd_) << kPhaseShift;
}

bool Mbarrier::Load(const uint8_t* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, sizeof(bits));
  pending_ = static_cast<uint32_t>(bits & kMaxCount);
  count_ = static_cast<uint32_t>(bits >> kCountShift & kMaxCount);
  bytes_ = static_cast<int64_t>(bits >> kBytesShift & ((1 << 21) - 1)) - kBytesBias;
  odd_ = (bits >> kPhaseShift & 1) != 0;
  return bits >> kMarkShift == 1 || bits >> kMarkShift == 3;
}

void Mbarrier::Store(uint8_t* at) const {
  const uint64_t bits = Bits();
  std::memcpy(at, &bits, sizeof(bits));
}

void Mbarrier::TryEnd() {
  if (pending_ != 0 || bytes_ != 0) return;
  odd_ = !odd_;
  pending_ = count_;
}

void Mbarrier::Arrive(uint32_t count) {
  pending_ -= count;
  TryEnd();
}

void Mbarrier::CompleteBytes(int64_t bytes) {
  bytes_ -= bytes;
  TryEnd();
}

}  // namespace onepass::sim
