// The shift by one writes an element behind the last.
// find: out of bounds; write of 4 bytes; y[64]; thread (63,0,0)
// run: grid=1 block=64
// args: in:x:64:4 out:y:64:4
extern "C" __global__ void faulty(const float* x, float* y) { y[threadIdx.x + 1] = x[threadIdx.x]; }
extern "C" __global__ void mended(const float* x, float* y) {
  if (threadIdx.x + 1 < 64) y[threadIdx.x + 1] = x[threadIdx.x];
}
