// Rows of 24 elements are walked with a pitch of 32.
// find: out of bounds; x[192]; block (6,0,0)
// run: grid=8 block=24
// args: in:x:192:4 out:y:192:4
extern "C" __global__ void faulty(const float* x, float* y) {
  y[blockIdx.x * 24 + threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
}
extern "C" __global__ void mended(const float* x, float* y) {
  y[blockIdx.x * 24 + threadIdx.x] = x[blockIdx.x * 24 + threadIdx.x];
}
