// All blocks add to one place of the first block's shared memory without atomics.
// find: shared race; sum[0]; by block
// run: grid=4 block=32 cluster=4
// args: in:x:4:4 out:y:1:4
#include "cluster.cuh"

extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float sum[1];
  if (threadIdx.x == 0) sum[0] = 0;
  Arrive();
  Wait();
  if (threadIdx.x == 0) {
    const unsigned at = At(sum, 0);
    Store(at, Load(at) + x[blockIdx.x]);
  }
  Arrive();
  Wait();
  if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = sum[0];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float sum[1];
  if (threadIdx.x == 0) sum[0] = 0;
  Arrive();
  Wait();
  if (threadIdx.x == 0) {
    const unsigned at = At(sum, 0);
    asm volatile("red.relaxed.cluster.shared::cluster.add.f32 [%0], %1;" ::"r"(at), "f"(x[blockIdx.x]) : "memory");
  }
  Arrive();
  Wait();
  if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = sum[0];
}
