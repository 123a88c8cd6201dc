// A stencil in place: neighbours are overwritten while they are read.
// find: global race; x[; read by block (0,0,0); write by block (0,0,0)
// run: grid=1 block=64
// args: in:x:66:4
extern "C" __global__ void faulty(float* x) {
  unsigned i = threadIdx.x + 1;
  x[i] = x[i - 1] + x[i + 1];
}
extern "C" __global__ void mended(float* x) {
  unsigned i = threadIdx.x + 1;
  float v = x[i - 1] + x[i + 1];
  __syncthreads();
  x[i] = v;
}
