// A loop whose end is stepped over.
// find: fault; an endless loop?
// run: grid=1 block=32
// args: zero:y:32:4 u32:7
extern "C" __global__ void faulty(unsigned* y, unsigned n) {
  volatile unsigned* mine = y + threadIdx.x;
  while (*mine != n) *mine += 2;
}
extern "C" __global__ void mended(unsigned* y, unsigned n) {
  volatile unsigned* mine = y + threadIdx.x;
  while (*mine < n) *mine += 2;
}
