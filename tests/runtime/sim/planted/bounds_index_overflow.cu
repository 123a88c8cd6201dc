// The index is computed in 32 bits and wraps to a negative one.
// find: out of bounds; (no buffer)
// run: grid=1 block=32
// args: in:x:64:4 out:y:64:4 u32:715827883
extern "C" __global__ void faulty(const float* x, float* y, int stride) {
  int i = static_cast<int>(threadIdx.x) * stride;
  y[threadIdx.x] = x[i];
}
extern "C" __global__ void mended(const float* x, float* y, int stride) {
  long long i = static_cast<long long>(threadIdx.x) * stride;
  y[threadIdx.x] = i < 64 ? x[i] : 0.0f;
}
