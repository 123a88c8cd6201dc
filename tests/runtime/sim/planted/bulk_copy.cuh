// Bulk copies from shared to global memory, as the planted kernels use them.
#pragma once

static __device__ void StoreBulk(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"((unsigned)__cvta_generic_to_shared(from)), "r"(bytes)
               : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
static __device__ void WaitReads() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
static __device__ void Proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
