// Barriers of a block in every form. 96 threads; out[96 k + thread] is the k-th result.
extern "C" __global__ void barriers(unsigned *out) {
  __shared__ unsigned held[96];
  const unsigned t = threadIdx.x;
  unsigned r;
  held[t] = t * t;
  asm volatile("bar.sync 0;" ::: "memory");
  out[t] = held[95 - t];
  asm volatile("barrier.sync 1;" ::: "memory");
  held[t] = t + 1;
  asm volatile("barrier.sync 2, 96;" ::: "memory");
  out[96 + t] = held[(t + 33) % 96];
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 50; bar.red.popc.u32 %0, 3, p; }" : "=r"(r) : "r"(t) : "memory");
  out[2 * 96 + t] = r;
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 50; bar.red.and.pred p, 4, p; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(t) : "memory");
  out[3 * 96 + t] = r;
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 50; bar.red.or.pred p, 5, !p; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(t) : "memory");
  out[4 * 96 + t] = r;
  asm volatile("{ .reg .pred p; setp.gt.u32 p, %1, 50; barrier.cta.red.popc.u32 %0, 6, 96, p; }" : "=r"(r) : "r"(t) : "memory");
  out[5 * 96 + t] = r;
  // Warps 0 and 1 produce, warp 2 consumes.
  if (t < 64) {
    held[t] = 1000 + t;
    asm volatile("bar.arrive 7, 96;" ::: "memory");
  } else {
    asm volatile("bar.sync 7, 96;" ::: "memory");
    out[6 * 96 + t] = held[t - 64] + held[t - 32];
  }
}
