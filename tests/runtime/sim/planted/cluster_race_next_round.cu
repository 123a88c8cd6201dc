// The second round's values are written while a neighbour may still read the first's.
// find: shared race; value[; read by block; write by block
// run: grid=2 block=64 cluster=2
// args: in:x:256:4 out:y:128:4
#include "cluster.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float value[64];
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    value[threadIdx.x] = x[(2 * k + blockIdx.x) * 64 + threadIdx.x];
    Arrive();
    Wait();
    sum += Load(At(&value[63 - threadIdx.x], 1 - blockIdx.x));
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
  Arrive();
  Wait();
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float value[64];
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    value[threadIdx.x] = x[(2 * k + blockIdx.x) * 64 + threadIdx.x];
    Arrive();
    Wait();
    sum += Load(At(&value[63 - threadIdx.x], 1 - blockIdx.x));
    Arrive();
    Wait();
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
  Arrive();
  Wait();
}
