// An optional input that is absent is read all the same.
// find: out of bounds; read of 4 bytes; address 0x0 (no buffer)
// run: grid=1 block=32
// args: in:x:32:4 u64:0 out:y:32:4
extern "C" __global__ void faulty(const float* x, const float* residual, float* y) {
  y[threadIdx.x] = x[threadIdx.x] + residual[threadIdx.x];
}
extern "C" __global__ void mended(const float* x, const float* residual, float* y) {
  float r = residual != nullptr ? residual[threadIdx.x] : 0.0f;
  y[threadIdx.x] = x[threadIdx.x] + r;
}
