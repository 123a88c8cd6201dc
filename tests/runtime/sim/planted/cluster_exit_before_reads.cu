// A block exits while its neighbour may still read its shared memory.
// find: shared race; may exit before the read of its shared memory by block
// run: grid=2 block=32 cluster=2
// args: in:x:64:4 out:y:64:4
#include "cluster.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float value[32];
  value[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  Arrive();
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = Load(At(&value[threadIdx.x], 1 - blockIdx.x));
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float value[32];
  value[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  Arrive();
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = Load(At(&value[threadIdx.x], 1 - blockIdx.x));
  Arrive();
  Wait();
}
