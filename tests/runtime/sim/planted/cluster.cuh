// Cluster barriers and accesses to another block's shared memory, as the planted kernels use them.
#pragma once

static __device__ unsigned At(const void* x, unsigned rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(at)
               : "r"((unsigned)__cvta_generic_to_shared(x)), "r"(rank));
  return at;
}
static __device__ float Load(unsigned at) {
  float x;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(at) : "memory");
  return x;
}
static __device__ void Store(unsigned at, float x) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(at), "f"(x) : "memory");
}
static __device__ void Arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
static __device__ void Wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
