// The last step of a block reduction reads 32 sums where the block has four warps.
// find: uninitialised read; shared memory; sums[4]; thread (4,0,0)
// run: grid=1 block=128
// args: in:x:128:4 out:y:1:4
__device__ float WarpSum(float v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float sums[32];
  float v = WarpSum(x[threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = WarpSum(sums[threadIdx.x]);
    if (threadIdx.x == 0) *y = v;
  }
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float sums[32];
  float v = WarpSum(x[threadIdx.x]);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = WarpSum(threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0.0f);
    if (threadIdx.x == 0) *y = v;
  }
}
