// The kernel adds to an output that nobody has set.
// find: uninitialised read; y[0]; block (0,0,0) thread (0,0,0)
// run: grid=2 block=32
// args: in:x:64:4 out:y:64:4
extern "C" __global__ void faulty(const float* x, float* y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] += x[i];
}
extern "C" __global__ void mended(const float* x, float* y) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i];
}
