// Integer division that rounds up.
#pragma once

#include <cstdint>

namespace onepass {

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace onepass
