// Lanes execute a vote that their own mask leaves out.
// find: lane mask; lane 8 is not in the mask 0x000000ff
// run: grid=1 block=32
// args: iota:x:32:4 out:y:32:4
extern "C" __global__ void faulty(const unsigned* x, unsigned* y) {
  y[threadIdx.x] = __ballot_sync(0x000000ffu, x[threadIdx.x] & 1);
}
extern "C" __global__ void mended(const unsigned* x, unsigned* y) {
  y[threadIdx.x] = __ballot_sync(0xffffffffu, x[threadIdx.x] & 1);
}
