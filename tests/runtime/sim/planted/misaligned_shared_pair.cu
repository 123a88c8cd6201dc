// Doubles behind an odd number of floats in shared memory.
// find: misaligned; write of 8 bytes; byte 132; shared memory
// run: grid=1 block=8 shared=256
// args: out:y:8:8
extern __shared__ float buffer[];
extern "C" __global__ void faulty(double* y) {
  double* sums = reinterpret_cast<double*>(buffer + 33);
  sums[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = sums[7 - threadIdx.x];
}
extern "C" __global__ void mended(double* y) {
  double* sums = reinterpret_cast<double*>(buffer + 34);
  sums[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = sums[7 - threadIdx.x];
}
