// Atomics of the block's scope on a counter that all blocks share.
// find: global race; counter[0]; atomic by block (0,0,0); atomic by block (1,0,0)
// run: grid=3 block=32
// args: zero:counter:1:4
extern "C" __global__ void faulty(unsigned* counter) {
  asm volatile("red.relaxed.cta.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}
extern "C" __global__ void mended(unsigned* counter) {
  asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}
