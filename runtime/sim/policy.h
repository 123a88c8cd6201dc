// The bits of a cache policy, as createpolicy makes it. The ISA leaves them open; these are the
// ones that libraries pass without createpolicy, so that both steer alike.
#pragma once

#include <cstdint>

namespace onepass::sim {

inline constexpr uint64_t kPolicyNormal = 0x1000000000000000;
inline constexpr uint64_t kPolicyEvictFirst = 0x12f0000000000000;
inline constexpr uint64_t kPolicyEvictLast = 0x14f0000000000000;

}  // namespace onepass::sim
