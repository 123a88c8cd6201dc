// Thread 0 leaves a result in shared memory, and the others read it at once.
// find: shared race; mean; write by block (0,0,0) thread (0,0,0); read by block (0,0,0)
// run: grid=1 block=96
// args: in:x:96:4 out:y:96:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float mean;
  if (threadIdx.x == 0) mean = x[0];
  y[threadIdx.x] = x[threadIdx.x] - mean;
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float mean;
  if (threadIdx.x == 0) mean = x[0];
  __syncthreads();
  y[threadIdx.x] = x[threadIdx.x] - mean;
}
