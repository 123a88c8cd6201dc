// The wait is for the phase before the one that the copy ends.
// find: shared race; tile[; asynchronous write by block; read by block
// run: grid=1 block=32
// args: in:x:32:4 out:y:32:4
#include "mbarrier.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) Init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    Expect(&bar, 128);
    Fetch(tile, x, 128, &bar);
  }
  Wait(&bar, 1);
  y[threadIdx.x] = tile[31 - threadIdx.x];
  Wait(&bar, 0);
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) Init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    Expect(&bar, 128);
    Fetch(tile, x, 128, &bar);
  }
  Wait(&bar, 0);
  y[threadIdx.x] = tile[31 - threadIdx.x];
  Wait(&bar, 0);
}
