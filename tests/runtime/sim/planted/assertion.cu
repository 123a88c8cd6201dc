// An assertion of the kernel's own does not hold.
// find: fault; trap; thread (5,0,0)
// run: grid=1 block=32
// args: iota:x:32:4 out:y:32:4
extern "C" __global__ void faulty(const unsigned* x, unsigned* y) {
  if (x[threadIdx.x] == 5) __trap();
  y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void mended(const unsigned* x, unsigned* y) {
  if (x[threadIdx.x] == 500) __trap();
  y[threadIdx.x] = x[threadIdx.x];
}
