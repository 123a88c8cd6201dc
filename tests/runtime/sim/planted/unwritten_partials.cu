// Partial sums of eight blocks are read; the grid has six.
// find: uninitialised read; partials[6]
// run: grid=6 block=32 cooperative
// args: zero:count:1:4 out:partials:8:4 out:y:1:4
__device__ bool LastBlock(unsigned* count) {
  __threadfence();
  bool last = atomicAdd(count, 1u) == gridDim.x - 1;
  __threadfence();
  return last;
}
extern "C" __global__ void faulty(unsigned* count, float* partials, float* y) {
  if (threadIdx.x != 0) return;
  partials[blockIdx.x] = blockIdx.x;
  if (!LastBlock(count)) return;
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += partials[i];
  *y = sum;
}
extern "C" __global__ void mended(unsigned* count, float* partials, float* y) {
  if (threadIdx.x != 0) return;
  partials[blockIdx.x] = blockIdx.x;
  if (!LastBlock(count)) return;
  float sum = 0;
  for (int i = 0; i < gridDim.x; ++i) sum += partials[i];
  *y = sum;
}
