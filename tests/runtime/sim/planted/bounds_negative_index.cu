// A stencil looks left of the first element.
// find: out of bounds; read of 4 bytes; x[-1]; block (0,0,0) thread (0,0,0)
// run: grid=2 block=32
// args: in:x:64:4 out:y:64:4
extern "C" __global__ void faulty(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] - x[i - 1];
}
extern "C" __global__ void mended(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = i > 0 ? x[i] - x[i - 1] : x[i];
}
