// The fence of the other way to memory stands before the second tile is written, not behind it.
// find: shared race; no fence.proxy.async; tile[; asynchronous read by block
// run: grid=1 block=64
// args: in:x:128:4 out:y:128:4
#include "bulk_copy.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ __align__(16) float tile[64];
  for (int k = 0; k < 2; ++k) {
    if (k == 0) tile[threadIdx.x] = x[threadIdx.x];
    Proxy();
    if (k == 1) tile[threadIdx.x] = x[64 + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      StoreBulk(y + 64 * k, tile, 256);
      WaitReads();
    }
    __syncthreads();
  }
}
// The thread that copies may be the one that fences.
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ __align__(16) float tile[64];
  for (int k = 0; k < 2; ++k) {
    tile[threadIdx.x] = x[64 * k + threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      Proxy();
      StoreBulk(y + 64 * k, tile, 256);
      WaitReads();
    }
    __syncthreads();
  }
}
