// Every warp reaches a barrier, but not the same one.
// find: barrier divergence; reached at different places; thread (0,0,0); thread (32,0,0)
// run: grid=1 block=64
// args: in:x:64:4 out:y:64:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 32) {
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x + 32];
  } else {
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x - 32] + 1;
  }
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) {
    y[threadIdx.x] = tile[threadIdx.x + 32];
  } else {
    y[threadIdx.x] = tile[threadIdx.x - 32] + 1;
  }
}
