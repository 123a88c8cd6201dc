// The consumers wait at another barrier than the one at which the producers arrive.
// find: shared race; box[; write by; read by
// run: grid=1 block=128
// args: in:x:64:4 out:y:64:4
template <int kWait>
__device__ void Hand(const float* x, float* y) {
  __shared__ float box[64];
  unsigned t = threadIdx.x;
  if (t < 64) {
    box[t] = x[t];
    asm volatile("bar.arrive 1, 128;" ::: "memory");
  } else {
    if (kWait == 1) {
      asm volatile("bar.sync 1, 128;" ::: "memory");
    } else {
      asm volatile("bar.sync 2, 64;" ::: "memory");
    }
    y[t - 64] = box[127 - t];
  }
}
extern "C" __global__ void faulty(const float* x, float* y) { Hand<2>(x, y); }
extern "C" __global__ void mended(const float* x, float* y) { Hand<1>(x, y); }
