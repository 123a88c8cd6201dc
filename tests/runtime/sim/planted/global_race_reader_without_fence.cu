// The reader of a flag goes on to the data without a fence: it may hold an old line of it.
// find: global race; data[; write by block (0,0,0); read by block (1,0,0)
// run: grid=2 block=32 cooperative
// args: zero:flag:1:4 out:data:32:4 out:y:32:4
template <bool kFence>
__device__ void Hand(unsigned* flag, float* data, float* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0) *static_cast<volatile unsigned*>(flag) = 1;
  } else {
    while (*static_cast<volatile unsigned*>(flag) == 0) {
    }
    if (kFence) __threadfence();
    y[threadIdx.x] = data[threadIdx.x];
  }
}
extern "C" __global__ void faulty(unsigned* flag, float* data, float* y) {
  Hand<false>(flag, data, y);
}
extern "C" __global__ void mended(unsigned* flag, float* data, float* y) {
  Hand<true>(flag, data, y);
}
