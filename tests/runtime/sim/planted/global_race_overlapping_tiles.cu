// Tiles of neighbouring blocks overlap by one element.
// find: global race; y[31]; write by block (0,0,0); write by block (1,0,0)
// run: grid=4 block=32
// args: in:x:128:4 out:y:128:4
extern "C" __global__ void faulty(const float* x, float* y) {
  unsigned i = blockIdx.x * 31 + threadIdx.x;
  y[i] = x[i] * (blockIdx.x + 1);
}
extern "C" __global__ void mended(const float* x, float* y) {
  unsigned i = blockIdx.x * 32 + threadIdx.x;
  y[i] = x[i] * (blockIdx.x + 1);
}
