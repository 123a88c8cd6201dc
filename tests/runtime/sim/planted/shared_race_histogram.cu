// Lanes of one instruction count into the same bin without an atomic.
// find: shared race; bins[
// run: grid=1 block=32
// args: iota:x:32:4 out:y:4:4
extern "C" __global__ void faulty(const unsigned* x, unsigned* y) {
  __shared__ unsigned bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0;
  __syncthreads();
  bins[x[threadIdx.x] & 3] += 1;
  __syncthreads();
  if (threadIdx.x < 4) y[threadIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void mended(const unsigned* x, unsigned* y) {
  __shared__ unsigned bins[4];
  if (threadIdx.x < 4) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[x[threadIdx.x] & 3], 1u);
  __syncthreads();
  if (threadIdx.x < 4) y[threadIdx.x] = bins[threadIdx.x];
}
