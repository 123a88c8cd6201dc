// The loop's next tile overwrites the one that slower warps still read.
// find: shared race; tile[; read by block (0,0,0); write by block (0,0,0)
// run: grid=1 block=64
// args: in:x:256:4 out:y:64:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[64];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    tile[threadIdx.x] = x[64 * k + threadIdx.x];
    __syncthreads();
    sum += tile[63 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[64];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    tile[threadIdx.x] = x[64 * k + threadIdx.x];
    __syncthreads();
    sum += tile[63 - threadIdx.x];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}
