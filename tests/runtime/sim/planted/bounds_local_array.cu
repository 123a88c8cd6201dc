// A local array is indexed by data that is larger than it is.
// find: out of bounds; local memory; thread (4,0,0)
// run: grid=1 block=8
// args: iota:x:8:4 out:y:8:4
extern "C" __global__ void faulty(const unsigned* x, unsigned* y) {
  volatile unsigned held[4];
  for (int i = 0; i < 4; ++i) held[i] = i;
  y[threadIdx.x] = held[x[threadIdx.x]];
}
extern "C" __global__ void mended(const unsigned* x, unsigned* y) {
  volatile unsigned held[4];
  for (int i = 0; i < 4; ++i) held[i] = i;
  y[threadIdx.x] = held[x[threadIdx.x] & 3];
}
