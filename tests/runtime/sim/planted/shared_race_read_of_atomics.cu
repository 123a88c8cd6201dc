// The total is read while other threads still add to it.
// find: shared race; total; atomic by; read by
// run: grid=1 block=64
// args: out:y:64:4
extern "C" __global__ void faulty(unsigned* y) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, threadIdx.x);
  y[threadIdx.x] = total;
}
extern "C" __global__ void mended(unsigned* y) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, threadIdx.x);
  __syncthreads();
  y[threadIdx.x] = total;
}
