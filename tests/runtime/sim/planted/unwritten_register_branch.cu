// A branch depends on a predicate that one path leaves unset.
// find: uninitialised read; depends on an uninitialised register; thread (4,0,0)
// run: grid=1 block=32
// args: out:y:32:4
extern "C" __global__ void faulty(unsigned* y) {
  unsigned v = 1;
  asm volatile(
      "{.reg .pred p, q; setp.lt.u32 p, %1, 4; @p setp.eq.u32 q, %1, 2; @q bra SKIP; "
      "add.u32 %0, %0, 1; SKIP: }"
      : "+r"(v)
      : "r"(threadIdx.x));
  y[threadIdx.x] = v;
}
extern "C" __global__ void mended(unsigned* y) {
  unsigned v = 1;
  asm volatile(
      "{.reg .pred p, q; setp.lt.u32 p, %1, 4; setp.eq.u32 q, %1, 2; @q bra SKIP; "
      "add.u32 %0, %0, 1; SKIP: }"
      : "+r"(v)
      : "r"(threadIdx.x));
  y[threadIdx.x] = v;
}
