// A barrier waits for 96 threads of a block that has 64.
// find: deadlock; warp 0 waits; bar.sync 1, 96
// run: grid=1 block=64
// args: out:y:64:4
extern "C" __global__ void faulty(unsigned* y) {
  asm volatile("bar.sync 1, 96;" ::: "memory");
  y[threadIdx.x] = 1;
}
extern "C" __global__ void mended(unsigned* y) {
  asm volatile("bar.sync 1, 64;" ::: "memory");
  y[threadIdx.x] = 1;
}
