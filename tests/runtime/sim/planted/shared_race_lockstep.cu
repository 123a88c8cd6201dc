// The last five steps of a reduction trust that a warp runs in lockstep.
// find: shared race; sums[; thread
// run: grid=1 block=32
// args: in:x:32:4 out:y:1:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float sums[32];
  unsigned t = threadIdx.x;
  sums[t] = x[t];
  __syncwarp();
  for (unsigned d = 16; d > 0; d >>= 1) {
    if (t < d) sums[t] += sums[t + d];
  }
  if (t == 0) *y = sums[0];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float sums[32];
  unsigned t = threadIdx.x;
  sums[t] = x[t];
  __syncwarp();
  for (unsigned d = 16; d > 0; d >>= 1) {
    if (t < d) sums[t] += sums[t + d];
    __syncwarp();
  }
  if (t == 0) *y = sums[0];
}
