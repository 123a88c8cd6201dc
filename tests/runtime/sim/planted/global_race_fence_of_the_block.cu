// The fence before the flag holds for the block only; the reader is in another.
// find: global race; data[; write by block (0,0,0); read by block (1,0,0)
// run: grid=2 block=32 cooperative
// args: zero:flag:1:4 out:data:32:4 out:y:32:4
template <bool kWide>
__device__ void Hand(unsigned* flag, float* data, float* y) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (kWide) {
      __threadfence();
    } else {
      __threadfence_block();
    }
    if (threadIdx.x == 0) atomicExch(flag, 1u);
  } else {
    while (atomicAdd(flag, 0u) == 0) {
    }
    __threadfence();
    y[threadIdx.x] = data[threadIdx.x];
  }
}
extern "C" __global__ void faulty(unsigned* flag, float* data, float* y) {
  Hand<false>(flag, data, y);
}
extern "C" __global__ void mended(unsigned* flag, float* data, float* y) {
  Hand<true>(flag, data, y);
}
