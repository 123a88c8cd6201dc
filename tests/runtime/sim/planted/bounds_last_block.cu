// The last block of a grid that is rounded up has no bounds check.
// find: out of bounds; read of 4 bytes; x[100]; block (3,0,0) thread (4,0,0); faulty.cu:
// run: grid=4 block=32
// args: in:x:100:4 out:y:100:4 u32:100
extern "C" __global__ void faulty(const float* x, float* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}
extern "C" __global__ void mended(const float* x, float* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
