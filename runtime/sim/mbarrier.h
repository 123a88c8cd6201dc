// The value of an mbarrier object: 64 bits of shared memory, whose layout PTX leaves open.
#pragma once

#include <cstdint>

namespace onepass::sim {

class Mbarrier {
 public:
  static constexpr uint32_t kMaxCount = (1u << 20) - 1;

  // An object for `count` arrivals, 1 to kMaxCount, in its phase 0.
  static Mbarrier Of(uint32_t count);
  // False: the word at `at` is no mbarrier.
  bool Load(const uint8_t* at);
  void Store(uint8_t* at) const;

  // Each ends the phase where nothing is pending any more.
  void Arrive(uint32_t count);
  void CompleteBytes(int64_t bytes);
  void ExpectBytes(int64_t bytes) { bytes_ += bytes; }
  // One arrival less from the next phase on.
  void Drop(uint32_t count) { count_ -= count; }

  bool odd_phase() const { return odd_; }
  uint32_t pending() const { return pending_; }
  int64_t bytes() const { return bytes_; }
  // As an arrival returns it.
  uint64_t State() const { return Bits(); }
  static bool OddPhaseOf(uint64_t state) { return (state >> 62 & 1) != 0; }
  static uint32_t PendingOf(uint64_t state) { return static_cast<uint32_t>(state & kMaxCount); }

 private:
  uint64_t Bits() const;
  void TryEnd();

  uint32_t pending_ = 0;
  uint32_t count_ = 0;
  int64_t bytes_ = 0;
  bool odd_ = false;
};

}  // namespace onepass::sim
