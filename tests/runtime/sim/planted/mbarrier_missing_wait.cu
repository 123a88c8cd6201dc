// A barrier of the block does not wait for a bulk copy.
// find: shared race; tile[; asynchronous write by block; read by block
// run: grid=1 block=64
// args: in:x:64:4 out:y:64:4
#include "mbarrier.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ __align__(16) float tile[64];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) Init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    Expect(&bar, 256);
    Fetch(tile, x, 256, &bar);
  }
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
  Wait(&bar, 0);
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ __align__(16) float tile[64];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) Init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    Expect(&bar, 256);
    Fetch(tile, x, 256, &bar);
  }
  Wait(&bar, 0);
  y[threadIdx.x] = tile[63 - threadIdx.x];
  Wait(&bar, 0);
}
