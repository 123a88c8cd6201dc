// One kernel computes partial sums and reads those of all blocks.
// find: global race; partials[; write by; read by
// run: grid=4 block=32 cooperative
// args: zero:words:2:4 zero:partials:4:4 out:y:4:4
__device__ void GridBarrier(unsigned* word) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(word, 1u);
    while (*static_cast<volatile unsigned*>(word) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
}
extern "C" __global__ void faulty(unsigned* words, float* partials, float* y) {
  if (threadIdx.x == 0) partials[blockIdx.x] = blockIdx.x;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = partials[0] + partials[1] + partials[2] + partials[3];
}
extern "C" __global__ void mended(unsigned* words, float* partials, float* y) {
  if (threadIdx.x == 0) partials[blockIdx.x] = blockIdx.x;
  GridBarrier(words);
  if (threadIdx.x == 0) y[blockIdx.x] = partials[0] + partials[1] + partials[2] + partials[3];
}
