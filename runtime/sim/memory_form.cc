#include "runtime/sim/memory_form.h"

#include "runtime/sim/addresses.h"

namespace onepass::sim {

using F = AccessFlags;

Space TakeSpace(Form& form) {
  if (form.Take("global")) return Space::kGlobal;
  if (form.Take("shared") || form.Take("shared::cta")) return Space::kShared;
  if (form.Take("shared::cluster")) return Space::kSharedCluster;
  if (form.Take("local")) return Space::kLocal;
  if (form.Take("param") || form.Take("param::entry") || form.Take("param::func")) {
    return Space::kParam;
  }
  if (form.Take("const")) return Space::kConst;
  return Space::kGeneric;
}

// Which lines stay how long: the legacy operators, the levels of L1 and L2.
uint32_t TakeCacheFlags(Form& form) {
  uint32_t flags = 0;
  if (form.Take("cs") || form.Take("lu")) flags |= F::kEvictFirst;
  if (form.Take("cg") || form.Take("cv") || form.Take("wt")) flags |= F::kSkipL1;
  form.Take("ca");
  form.Take("wb");
  if (form.Take("nc")) flags |= F::kReadOnly;
  if (form.Take("L1::no_allocate")) flags |= F::kKeepOutOfL1;
  form.Take("L1::evict_normal");
  form.Take("L1::evict_unchanged");
  form.Take("L1::evict_first");
  form.Take("L1::evict_last");
  if (form.Take("L2::evict_first")) flags |= F::kEvictFirst;
  if (form.Take("L2::evict_last")) flags |= F::kEvictLast;
  form.Take("L2::evict_normal");
  form.Take("L2::64B");
  form.Take("L2::128B");
  form.Take("L2::256B");
  return flags;
}

// Memory order and scope. Strong accesses pass L1 by.
uint32_t TakeOrder(Form& form) {
  uint32_t order = 0;
  if (form.Take("acquire")) order |= F::kAcquire;
  if (form.Take("release")) order |= F::kRelease;
  if (form.Take("acq_rel")) order |= F::kAcquire | F::kRelease;
  const bool mmio = form.Take("mmio");  // stands before .relaxed
  const bool strong = form.Take("volatile") || form.Take("relaxed") || mmio || order != 0;
  form.Take("weak");
  if (form.Take("cta")) order |= F::kBlockScope;
  if (form.Take("cluster")) order |= F::kClusterScope;
  form.Take("gpu");
  form.Take("sys");
  return strong ? order | F::kStrong | F::kSkipL1 | F::kStrongOrder : 0;
}

}  // namespace onepass::sim
