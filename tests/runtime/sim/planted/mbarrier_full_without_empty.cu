// The producer refills a stage that consumers have not given back.
// find: shared race; tile[; read by block; asynchronous write by block
// run: grid=1 block=64
// args: in:x:128:4 out:y:64:4
#include "mbarrier.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  __shared__ __align__(8) unsigned long long full, empty;
  if (threadIdx.x == 0) {
    Init(&full, 1);
    Init(&empty, 32);
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    for (int k = 0; k < 4; ++k) {
      if (k > 0) Wait(&full, (k - 1) % 2);
      Expect(&full, 128);
      Fetch(tile, x + 32 * k, 128, &full);
    }
  }
  if (threadIdx.x < 32) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      Wait(&full, k % 2);
      sum += tile[threadIdx.x];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SHARED(&empty)) : "memory");
    }
    y[threadIdx.x] = sum;
  }
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  __shared__ __align__(8) unsigned long long full, empty;
  if (threadIdx.x == 0) {
    Init(&full, 1);
    Init(&empty, 32);
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    for (int k = 0; k < 4; ++k) {
      if (k > 0) Wait(&empty, (k - 1) % 2);
      Expect(&full, 128);
      Fetch(tile, x + 32 * k, 128, &full);
    }
  }
  if (threadIdx.x < 32) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      Wait(&full, k % 2);
      sum += tile[threadIdx.x];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SHARED(&empty)) : "memory");
    }
    y[threadIdx.x] = sum;
  }
}
