// Something a checker of the simulated GPU saw that did not stop the kernel.
#ifndef ONEPASS_RUNTIME_SIM_FINDING_H_
#define ONEPASS_RUNTIME_SIM_FINDING_H_

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

#endif  // ONEPASS_RUNTIME_SIM_FINDING_H_
