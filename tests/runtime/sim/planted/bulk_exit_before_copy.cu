// The block exits while a bulk copy may still read its shared memory.
// find: shared race; may exit before the asynchronous read of its shared memory by block
// run: grid=2 block=32
// args: in:x:64:4 out:y:64:4
#include "bulk_copy.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  tile[threadIdx.x] = x[32 * blockIdx.x + threadIdx.x];
  Proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    StoreBulk(y + 32 * blockIdx.x, tile, 128);
  }
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  tile[threadIdx.x] = x[32 * blockIdx.x + threadIdx.x];
  Proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    StoreBulk(y + 32 * blockIdx.x, tile, 128);
    WaitReads();
  }
}
