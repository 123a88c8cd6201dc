// Asynchronous copies of four bytes, as the planted kernels use them.
#pragma once

static __device__ void Fetch(void* to, const void* from) {
  asm volatile(
      "cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)),
      "l"(from)
      : "memory");
}
static __device__ void Commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
static __device__ void Wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
