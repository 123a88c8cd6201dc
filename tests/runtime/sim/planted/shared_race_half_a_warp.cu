// Only half of the warp is in the mask of the barrier that should order it.
// find: shared race; tile[; thread
// run: grid=1 block=32
// args: in:x:32:4 out:y:32:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[32];
  unsigned t = threadIdx.x;
  tile[t] = x[t];
  if (t < 16) {
    __syncwarp(0x0000ffffu);
  } else {
    __syncwarp(0xffff0000u);
  }
  y[t] = tile[31 - t];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[32];
  unsigned t = threadIdx.x;
  tile[t] = x[t];
  if (t < 16) {
    __syncwarp(0x0000ffffu);
  } else {
    __syncwarp(0xffff0000u);
  }
  y[t] = tile[t ^ 15];
}
