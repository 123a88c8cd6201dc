// The buffer is filled again while a bulk copy out of it may still read.
// find: shared race; tile[; asynchronous read by block; write by block
// run: grid=1 block=32
// args: in:x:64:4 out:y:64:4
#include "bulk_copy.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  for (int k = 0; k < 2; ++k) {
    tile[threadIdx.x] = x[32 * k + threadIdx.x];
    Proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
      StoreBulk(y + 32 * k, tile, 128);
      if (k == 1) WaitReads();
    }
    __syncthreads();
  }
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  for (int k = 0; k < 2; ++k) {
    tile[threadIdx.x] = x[32 * k + threadIdx.x];
    Proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
      StoreBulk(y + 32 * k, tile, 128);
      WaitReads();
    }
    __syncthreads();
  }
}
