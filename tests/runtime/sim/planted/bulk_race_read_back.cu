// What a bulk copy writes to global memory is read before it is there: .read waits for its source alone.
// find: global race; y[; asynchronous write by block; read by block
// run: grid=1 block=32
// args: in:x:32:4 out:y:32:4 out:z:32:4
#include "bulk_copy.cuh"

extern "C" __global__ void faulty(const float* x, float* y, float* z) {
  __shared__ __align__(16) float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  Proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    StoreBulk(y, tile, 128);
    WaitReads();
  }
  __syncthreads();
  z[threadIdx.x] = y[31 - threadIdx.x];
}
extern "C" __global__ void mended(const float* x, float* y, float* z) {
  __shared__ __align__(16) float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  Proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    StoreBulk(y, tile, 128);
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
  __syncthreads();
  z[threadIdx.x] = y[31 - threadIdx.x];
}
