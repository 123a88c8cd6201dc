// The modifiers that loads, stores and atomics share.
#pragma once

#include <cstdint>

#include "runtime/sim/form.h"
#include "runtime/sim/syntax.h"

namespace onepass::sim {

Space TakeSpace(Form& form);
uint32_t TakeCacheFlags(Form& form);  // which lines stay how long; AccessFlags
uint32_t TakeOrder(Form& form);       // memory order and scope; AccessFlags

}  // namespace onepass::sim
