// A block of 24 threads shuffles as if it had 32.
// find: uninitialised read; what is stored depends on an uninitialised register; thread (0,0,0)
// run: grid=1 block=24
// args: in:x:24:4 out:y:1:4
extern "C" __global__ void faulty(const float* x, float* y) {
  float v = x[threadIdx.x];
  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
  if (threadIdx.x == 0) *y = v;
}
extern "C" __global__ void mended(const float* x, float* y) {
  float v = x[threadIdx.x];
  for (int d = 16; d > 0; d >>= 1) {
    float other = __shfl_down_sync(0xffffffffu, v, d);
    if (threadIdx.x + d < blockDim.x) v += other;
  }
  if (threadIdx.x == 0) *y = v;
}
