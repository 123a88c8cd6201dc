// The pipeline waits for all copies but two where one is on its way for later.
// find: shared race; tiles; asynchronous write by block; read by block
// run: grid=1 block=64
// args: in:x:512:4 out:y:64:4
#include "async_copy.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tiles[2][64];
  float sum = 0;
  Fetch(&tiles[0][threadIdx.x], &x[threadIdx.x]);
  Commit();
  for (int k = 0; k < 8; ++k) {
    if (k < 7) Fetch(&tiles[(k + 1) % 2][threadIdx.x], &x[64 * (k + 1) + threadIdx.x]);
    Commit();
    Wait<2>();
    __syncthreads();
    sum += tiles[k % 2][63 - threadIdx.x];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tiles[2][64];
  float sum = 0;
  Fetch(&tiles[0][threadIdx.x], &x[threadIdx.x]);
  Commit();
  for (int k = 0; k < 8; ++k) {
    if (k < 7) Fetch(&tiles[(k + 1) % 2][threadIdx.x], &x[64 * (k + 1) + threadIdx.x]);
    Commit();
    Wait<1>();
    __syncthreads();
    sum += tiles[k % 2][63 - threadIdx.x];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}
