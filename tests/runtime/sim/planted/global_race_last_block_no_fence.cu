// The last block adds up what the others have left, but no fence stands before the count.
// find: global race; partials[; write by; read by
// run: grid=5 block=32
// args: zero:count:1:4 out:partials:5:4 out:y:1:4
template <bool kFence>
__device__ void Sum(unsigned* count, float* partials, float* y) {
  if (threadIdx.x != 0) return;
  partials[blockIdx.x] = blockIdx.x;
  if (kFence) __threadfence();
  if (atomicAdd(count, 1u) != gridDim.x - 1) return;
  __threadfence();
  float sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += partials[i];
  *y = sum;
}
extern "C" __global__ void faulty(unsigned* count, float* partials, float* y) {
  Sum<false>(count, partials, y);
}
extern "C" __global__ void mended(unsigned* count, float* partials, float* y) {
  Sum<true>(count, partials, y);
}
