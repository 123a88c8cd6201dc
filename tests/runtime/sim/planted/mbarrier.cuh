// mbarriers and the bulk copies that they wait for, as the planted kernels use them.
#pragma once

#define SHARED(x) ((unsigned)__cvta_generic_to_shared(x))
static __device__ void Init(unsigned long long* bar, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SHARED(bar)), "r"(count) : "memory");
}
static __device__ void Expect(unsigned long long* bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SHARED(bar)),
               "r"(bytes)
               : "memory");
}
static __device__ void Wait(unsigned long long* bar, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
        "p; }"
        : "=r"(done)
        : "r"(SHARED(bar)), "r"(parity)
        : "memory");
  }
}
static __device__ void Fetch(void* to, const void* from, unsigned bytes, unsigned long long* bar) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(SHARED(to)),
      "l"(from), "r"(bytes), "r"(SHARED(bar))
      : "memory");
}
