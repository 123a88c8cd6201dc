// Half of a warp takes a branch with a barrier in it.
// find: barrier divergence; lanes of the warp wait elsewhere; bar
// run: grid=1 block=32
// args: in:x:32:4 out:y:32:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  if (threadIdx.x < 16) {
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x + 16];
  } else {
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x - 16] + 1;
  }
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[32];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 16) {
    y[threadIdx.x] = tile[threadIdx.x + 16];
  } else {
    y[threadIdx.x] = tile[threadIdx.x - 16] + 1;
  }
}
