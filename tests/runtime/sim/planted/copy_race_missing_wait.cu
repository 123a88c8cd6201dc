// A thread reads what its own asynchronous copy brings, and does not wait for it.
// find: shared race; tile[; asynchronous write by block; read by block
// run: grid=1 block=32
// args: in:x:32:4 out:y:32:4
#include "async_copy.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[32];
  Fetch(&tile[threadIdx.x], &x[threadIdx.x]);
  Commit();
  y[threadIdx.x] = tile[threadIdx.x];
  Wait<0>();
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[32];
  Fetch(&tile[threadIdx.x], &x[threadIdx.x]);
  Commit();
  Wait<0>();
  y[threadIdx.x] = tile[threadIdx.x];
  Wait<0>();
}
