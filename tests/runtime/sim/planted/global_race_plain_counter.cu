// Blocks count without an atomic.
// find: global race; counter[0]; by block (0,0,0); by block (1,0,0)
// run: grid=3 block=32
// args: zero:counter:1:4
extern "C" __global__ void faulty(unsigned* counter) {
  if (threadIdx.x == 0) *counter += 1;
}
extern "C" __global__ void mended(unsigned* counter) {
  if (threadIdx.x == 0) atomicAdd(counter, 1u);
}
