// __syncthreads() orders a block; the reader is in the next one.
// find: global race; y[; write by block; read by block
// run: grid=4 block=64 cooperative
// args: in:x:256:4 zero:y:256:4 out:z:256:4
extern "C" __global__ void faulty(const float* x, float* y, float* z) {
  unsigned i = blockIdx.x * 64 + threadIdx.x;
  y[i] = 2 * x[i];
  __syncthreads();
  z[i] = y[(i + 64) % 256];
}
extern "C" __global__ void mended(const float* x, float* y, float* z) {
  unsigned i = blockIdx.x * 64 + threadIdx.x;
  y[i] = 2 * x[i];
  __syncthreads();
  z[i] = y[blockIdx.x * 64 + (threadIdx.x + 32) % 64];
}
