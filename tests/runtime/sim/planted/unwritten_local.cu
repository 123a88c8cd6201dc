// Of a local array only the even places are filled.
// find: uninitialised read; local memory (byte 4 of 32)
// run: grid=1 block=8
// args: iota:x:8:4 out:y:8:4
extern "C" __global__ void faulty(const unsigned* x, unsigned* y) {
  volatile unsigned held[8];
  for (int i = 0; i < 8; i += 2) held[i] = i;
  y[threadIdx.x] = held[x[threadIdx.x]];
}
extern "C" __global__ void mended(const unsigned* x, unsigned* y) {
  volatile unsigned held[8];
  for (int i = 0; i < 8; ++i) held[i] = i;
  y[threadIdx.x] = held[x[threadIdx.x]];
}
