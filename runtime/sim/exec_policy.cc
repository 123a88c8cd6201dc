// createpolicy: how long lines stay in L2, as a value for the accesses that take a cache hint.
#include "runtime/sim/exec.h"
#include "runtime/sim/policy.h"

namespace onepass::sim {
namespace {

// r[0] the policy; flags: its upper bits.
const Op* MakePolicy(const Op& op, Warp& warp) {
  alignas(64) uint64_t lanes[32];
  for (uint64_t& lane : lanes) lane = uint64_t{op.flags} << 32;
  Blend(warp.Out<uint64_t>(op.r[0]), lanes, warp.exec);
  return &op + 1;
}

std::optional<uint64_t> TakePriority(Form& form) {
  if (form.Take("L2::evict_last")) return kPolicyEvictLast;
  if (form.Take("L2::evict_normal")) return kPolicyNormal;
  if (form.Take("L2::evict_first")) return kPolicyEvictFirst;
  if (form.Take("L2::evict_unchanged")) return kPolicyNormal;
  return std::nullopt;
}

}  // namespace

// A fraction below one applies the first priority to some lines only, chosen by the hardware; here
// it applies to all.
std::optional<Pick> PickPolicy(Form& form, int operands) {
  const bool fractional = form.Take("fractional");
  const bool range = !fractional && form.Take("range");
  if ((!fractional && !range) || !form.Take("b64")) return std::nullopt;
  if (range && !form.Take("global")) return std::nullopt;
  const auto primary = TakePriority(form);
  if (!primary) return std::nullopt;
  (void)TakePriority(form);
  Pick pick{&MakePolicy, {Type::kB64}, {}, static_cast<uint32_t>(*primary >> 32)};
  if (range) pick.from = {Type::kB64, Type::kB32, Type::kB32};
  if (fractional && operands == 2) pick.from = {Type::kF32};
  return pick;
}

}  // namespace onepass::sim
