// Double buffering with the reader on the buffer that is being filled.
// find: shared race; buffers[; write by; read by
// run: grid=1 block=64
// args: in:x:256:4 out:y:64:4
template <int kOffset>
__device__ void Sum(const float* x, float* y) {
  __shared__ float buffers[2][64];
  unsigned t = threadIdx.x;
  buffers[0][t] = x[t];
  buffers[1][t] = 0;
  __syncthreads();
  float sum = 0;
  for (int k = 1; k < 4; ++k) {
    buffers[k & 1][t] = x[64 * k + t];
    sum += buffers[(k + kOffset) & 1][63 - t];
    __syncthreads();
  }
  y[t] = sum;
}
extern "C" __global__ void faulty(const float* x, float* y) { Sum<0>(x, y); }
extern "C" __global__ void mended(const float* x, float* y) { Sum<1>(x, y); }
