// A shuffle names all lanes, but half of them wait at one of another mode.
// find: deadlock; lanes of the mask wait elsewhere; shfl.sync
// run: grid=1 block=32
// args: in:x:32:4 out:y:32:4
extern "C" __global__ void faulty(const float* x, float* y) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 16) {
    v = __shfl_xor_sync(0xffffffffu, v, 1) * 2;
  } else {
    v = __shfl_down_sync(0xffffffffu, v, 2) + 1;
  }
  y[threadIdx.x] = v;
}
extern "C" __global__ void mended(const float* x, float* y) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 16) {
    v = __shfl_xor_sync(0xffffffffu, v, 1) * 2;
  } else {
    v = __shfl_xor_sync(0xffffffffu, v, 2) + 1;
  }
  y[threadIdx.x] = v;
}
