// The steps of a tree reduction follow each other without a barrier.
// find: shared race; sums[; by block (0,0,0) thread
// run: grid=1 block=128
// args: in:x:128:4 out:y:1:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float sums[128];
  sums[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (unsigned d = 64; d > 0; d >>= 1) {
    if (threadIdx.x < d) sums[threadIdx.x] += sums[threadIdx.x + d];
  }
  if (threadIdx.x == 0) *y = sums[0];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float sums[128];
  sums[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  for (unsigned d = 64; d > 0; d >>= 1) {
    if (threadIdx.x < d) sums[threadIdx.x] += sums[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) *y = sums[0];
}
