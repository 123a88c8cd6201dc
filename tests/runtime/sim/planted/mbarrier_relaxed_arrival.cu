// A relaxed arrival at an mbarrier does not hand over what was written before it.
// find: shared race; tile[; write by block; read by block
// run: grid=1 block=64
// args: in:x:64:4 out:y:64:4
#include "mbarrier.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) Init(&bar, 64);
  __syncthreads();
  tile[threadIdx.x] = x[threadIdx.x];
  asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(SHARED(&bar)) : "memory");
  Wait(&bar, 0);
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) Init(&bar, 64);
  __syncthreads();
  tile[threadIdx.x] = x[threadIdx.x];
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SHARED(&bar)) : "memory");
  Wait(&bar, 0);
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
