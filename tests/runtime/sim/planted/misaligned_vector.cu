// Four floats at once from a place that is aligned to one.
// find: misaligned; read of 16 bytes; x[1]; thread (0,0,0)
// run: grid=1 block=8
// args: in:x:64:4 out:y:64:4
struct alignas(16) Four {
  float v[4];
};
extern "C" __global__ void faulty(const float* x, float* y) {
  Four f = *reinterpret_cast<const Four*>(x + 1 + 4 * threadIdx.x);
  y[threadIdx.x] = f.v[0] + f.v[1] + f.v[2] + f.v[3];
}
extern "C" __global__ void mended(const float* x, float* y) {
  Four f = *reinterpret_cast<const Four*>(x + 4 * threadIdx.x);
  y[threadIdx.x] = f.v[0] + f.v[1] + f.v[2] + f.v[3];
}
