// Each thread waits for its own copies; the other threads' may still be on their way.
// find: shared race; tile[; asynchronous write by block; read by block
// run: grid=1 block=64
// args: in:x:64:4 out:y:64:4
#include "async_copy.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[64];
  Fetch(&tile[threadIdx.x], &x[threadIdx.x]);
  Commit();
  Wait<0>();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[64];
  Fetch(&tile[threadIdx.x], &x[threadIdx.x]);
  Commit();
  Wait<0>();
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
