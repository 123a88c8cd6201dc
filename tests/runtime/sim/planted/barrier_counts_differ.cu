// Two warps name different numbers of threads for one barrier.
// find: barrier divergence; different numbers of threads
// run: grid=1 block=64
// args: out:y:64:4
extern "C" __global__ void faulty(unsigned* y) {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1, 96;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  y[threadIdx.x] = 1;
}
extern "C" __global__ void mended(unsigned* y) {
  asm volatile("bar.sync 1, 64;" ::: "memory");
  y[threadIdx.x] = 1;
}
