// What the checkers of the simulated GPU saw, and why a kernel was stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace onepass::sim {

struct Finding {
  enum class Kind : uint8_t {
    // These stop the kernel.
    kFault,  // trap, instruction limit, whatever has no name of its own
    kOutOfBounds,
    kMisaligned,
    kDeadlock,
    kBarrierDivergence,  // stops it where lanes of one warp are apart
    // These do not. They are looked for where GpuOptions::sanitize is set.
    kUninitialisedRead,
    kSharedRace,
    kGlobalRace,
    kLaneMask,  // a .sync operation and its mask do not fit each other
  };
  Kind kind = Kind::kFault;
  std::string kernel;
  std::string message;  // one line: buffer, index, block, thread, PTX line and text

  bool operator==(const Finding&) const = default;
};

// "shared race"
std::string_view NameOf(Finding::Kind kind);

// Findings, each kind once for a pair of operations, in the order in which they came up.
class Findings {
 public:
  // `a` and `b` tell operations apart. `describe` is called for what is new, until there are
  // kMost.
  void Add(Finding::Kind kind, const std::string& kernel, uint64_t a, uint64_t b,
           const std::function<std::string()>& describe);
  // All, with how often each was seen; none are left.
  std::vector<Finding> Take();

  static constexpr size_t kMost = 100;
  uint64_t faults = 0;  // so far; each is a finding of its own

 private:
  struct Key {
    Finding::Kind kind;
    std::string kernel;
    uint64_t a;
    uint64_t b;
    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& key) {
      return H::combine(std::move(h), key.kind, key.kernel, key.a, key.b);
    }
  };
  struct Counted {
    Finding finding;
    int64_t times = 1;
  };
  std::vector<Counted> found_;
  absl::flat_hash_map<Key, size_t> place_;  // in found_
};

}  // namespace onepass::sim
