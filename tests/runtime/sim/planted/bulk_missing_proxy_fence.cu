// Threads write a tile, and a bulk copy reads it another way: a barrier alone does not order them.
// find: shared race; no fence.proxy.async; tile[; asynchronous read by block
// run: grid=1 block=64
// args: in:x:64:4 out:y:64:4
#include "bulk_copy.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ __align__(16) float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    StoreBulk(y, tile, 256);
    WaitReads();
  }
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ __align__(16) float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  Proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    StoreBulk(y, tile, 256);
    WaitReads();
  }
}
