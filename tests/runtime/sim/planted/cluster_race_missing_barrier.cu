// A block reads its neighbour's shared memory; only its own threads have met since it was written.
// find: shared race; value[; write by block; read by block
// run: grid=4 block=32 cluster=2
// args: in:x:128:4 out:y:128:4
#include "cluster.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float value[32];
  Arrive();
  Wait();
  value[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  __syncthreads();
  y[blockIdx.x * 32 + threadIdx.x] = Load(At(&value[31 - threadIdx.x], 1 - blockIdx.x % 2));
  Arrive();
  Wait();
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float value[32];
  Arrive();
  Wait();
  value[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  Arrive();
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = Load(At(&value[31 - threadIdx.x], 1 - blockIdx.x % 2));
  Arrive();
  Wait();
}
