// The halo of one shared array lies in the next one.
// find: out of bounds; write of 4 bytes; shared memory; a[32]; thread (0,0,0)
// run: grid=1 block=32
// args: in:x:32:4 out:y:32:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float a[32];
  __shared__ float b[32];
  unsigned t = threadIdx.x;
  b[t] = x[t];
  a[t] = 2 * x[t];
  if (t == 0) a[32] = 0;
  __syncthreads();
  y[t] = a[(t + 1) % 32] + b[(t + 3) % 32];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float a[33];
  __shared__ float b[32];
  unsigned t = threadIdx.x;
  b[t] = x[t];
  a[t] = 2 * x[t];
  if (t == 0) a[32] = 0;
  __syncthreads();
  y[t] = a[t + 1] + b[(t + 3) % 32];
}
