// Lines of PTX with extremes in them, which mutations insert.
#pragma once

#include <string>

#include "runtime/sim/random.h"

namespace onepass::sim {

// A declaration, directive or instruction; `label` is where it may branch to.
std::string AnyLine(const std::string& label, Random& random);

}  // namespace onepass::sim
