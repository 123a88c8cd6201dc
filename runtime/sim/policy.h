// The bits of a cache policy, as createpolicy makes it. The ISA leaves them open.
#pragma once

#include <cstdint>

namespace onepass::sim {

inline constexpr uint64_t kPolicyMark = uint64_t{0x1ca}
                                        << 48;  // a value that is no policy lacks it
inline constexpr uint32_t kPolicyEvictFirst = 1;
inline constexpr uint32_t kPolicyEvictLast = 2;

}  // namespace onepass::sim
