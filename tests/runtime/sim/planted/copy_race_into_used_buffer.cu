// The next copy goes into the buffer that other threads still read.
// find: shared race; tile[; read by block; asynchronous write by block
// run: grid=1 block=64
// args: in:x:256:4 out:y:64:4
#include "async_copy.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[64];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    Fetch(&tile[threadIdx.x], &x[64 * k + threadIdx.x]);
    Commit();
    Wait<0>();
    __syncthreads();
    sum += tile[63 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[64];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    Fetch(&tile[threadIdx.x], &x[64 * k + threadIdx.x]);
    Commit();
    Wait<0>();
    __syncthreads();
    sum += tile[63 - threadIdx.x];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}
