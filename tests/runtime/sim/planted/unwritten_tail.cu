// The second kernel's half of the job: the tail of the output is read, but only whole groups of
// four were written.
// find: uninitialised read; y[28]
// run: grid=1 block=32
// args: in:x:30:4 out:y:30:4 out:z:30:4
extern "C" __global__ void faulty(const float* x, float* y, float* z) {
  unsigned t = threadIdx.x;
  if (t < 7) {
    for (unsigned i = 0; i < 4; ++i) y[4 * t + i] = x[4 * t + i];
  }
  __syncthreads();
  if (t < 30) z[t] = y[t] + 1;
}
extern "C" __global__ void mended(const float* x, float* y, float* z) {
  unsigned t = threadIdx.x;
  if (t < 8) {
    for (unsigned i = 0; i < 4 && 4 * t + i < 30; ++i) y[4 * t + i] = x[4 * t + i];
  }
  __syncthreads();
  if (t < 30) z[t] = y[t] + 1;
}
