// Two block reductions use one scratch array with no barrier between the first's end and the
// second's beginning.
// find: shared race; sums[; read by; write by
// run: grid=1 block=128
// args: in:x:128:4 out:y:128:4
__device__ float WarpSum(float v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}
template <bool kSafe>
__device__ float BlockSum(float v, float* sums) {
  v = WarpSum(v);
  if (kSafe) __syncthreads();
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = v;
  __syncthreads();
  return sums[0] + sums[1] + sums[2] + sums[3];
}
template <bool kSafe>
__device__ void Center(const float* x, float* y) {
  __shared__ float sums[4];
  float v = x[threadIdx.x];
  float mean = BlockSum<kSafe>(v, sums) / 128;
  float var = BlockSum<kSafe>((v - mean) * (v - mean), sums) / 128;
  y[threadIdx.x] = (v - mean) * rsqrtf(var);
}
extern "C" __global__ void faulty(const float* x, float* y) { Center<false>(x, y); }
extern "C" __global__ void mended(const float* x, float* y) { Center<true>(x, y); }
