// A tile is written by one thread and read by another without a barrier between.
// find: shared race; tile[; write by block (0,0,0); read by block (0,0,0); faulty.cu:
// run: grid=1 block=64
// args: in:x:64:4 out:y:64:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
