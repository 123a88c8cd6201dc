// The counter is set to zero while other threads count already.
// find: shared race; total; write by block (0,0,0) thread (0,0,0)
// run: grid=1 block=64
// args: out:y:1:4
extern "C" __global__ void faulty(unsigned* y) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  atomicAdd(&total, 1u);
  __syncthreads();
  if (threadIdx.x == 0) *y = total;
}
extern "C" __global__ void mended(unsigned* y) {
  __shared__ unsigned total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, 1u);
  __syncthreads();
  if (threadIdx.x == 0) *y = total;
}
