// A relaxed arrival at the cluster's barrier hands nothing over without a fence.
// find: shared race; value[; write by block; read by block
// run: grid=2 block=32 cluster=2
// args: in:x:64:4 out:y:64:4
#include "cluster.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float value[32];
  value[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = Load(At(&value[31 - threadIdx.x], 1 - blockIdx.x));
  Arrive();
  Wait();
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float value[32];
  value[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = Load(At(&value[31 - threadIdx.x], 1 - blockIdx.x));
  Arrive();
  Wait();
}
