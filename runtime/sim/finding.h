// Something a checker of the simulated GPU saw that did not stop the kernel.
#pragma once

#include <string>

namespace onepass::sim {

struct Finding {
  enum class Kind { kFault, kUninitialisedRead, kSharedRace, kGlobalRace, kBarrierDivergence };
  Kind kind = Kind::kFault;
  std::string kernel;
  std::string message;  // one line: buffer, index, block, thread, PTX line and text

  bool operator==(const Finding&) const = default;
};

}  // namespace onepass::sim
