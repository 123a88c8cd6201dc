// A block writes into the shared memory of another that may not have started.
// find: shared race; write of the shared memory of block; which may not have started
// run: grid=2 block=32 cluster=2
// args: in:x:64:4 out:y:64:4
#include "cluster.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float value[32];
  Store(At(&value[threadIdx.x], 1 - blockIdx.x), x[blockIdx.x * 32 + threadIdx.x]);
  Arrive();
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = value[threadIdx.x];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float value[32];
  Arrive();
  Wait();
  Store(At(&value[threadIdx.x], 1 - blockIdx.x), x[blockIdx.x * 32 + threadIdx.x]);
  Arrive();
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = value[threadIdx.x];
}
