// The launch gives half of the dynamic shared memory that the kernel uses.
// find: out of bounds; write of 4 bytes; byte 128 of 128; shared memory; thread (32,0,0)
// run: grid=1 block=64 shared=128
// args: in:x:64:4 out:y:64:4
extern __shared__ float buffer[];
extern "C" __global__ void faulty(const float* x, float* y) {
  buffer[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = buffer[63 - threadIdx.x];
}
extern "C" __global__ void mended(const float* x, float* y) {
  if (threadIdx.x >= 32) return;
  buffer[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = buffer[31 - threadIdx.x];
}
