// What reductions do to memory: the functions of cp.reduce.async.bulk and red.async.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/sim/cluster.h"
#include "runtime/sim/form.h"

namespace onepass::sim {

// Takes the operation from a form whose type has been taken: an index for CombineAt. `global`: f32
// additions flush subnormals there.
std::optional<uint32_t> TakeCombine(Form& form, Type type, bool global);
Combine CombineAt(uint32_t index);

}  // namespace onepass::sim
