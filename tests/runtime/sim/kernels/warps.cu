// What the lanes of a warp do together. One warp; out[32 k + lane] is the k-th result.
extern "C" __global__ void warps(unsigned *out) {
  const unsigned lane = threadIdx.x;
  const unsigned odd = 0xaaaaaaaau;
  unsigned r, k = 0;
#define PUT(value) out[32 * k++ + lane] = (value)
#define ONE(text, ...) asm volatile(text : "=r"(r) : __VA_ARGS__); PUT(r)
  ONE("shfl.sync.bfly.b32 %0, %1, 5, 31, -1;", "r"(lane));
  ONE("shfl.sync.down.b32 %0, %1, 3, 0x1817, -1;", "r"(lane));
  ONE("shfl.sync.up.b32 %0, %1, 3, 0x1000, -1;", "r"(lane));
  ONE("shfl.sync.idx.b32 %0, %1, 40, 31, -1;", "r"(lane));
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, -1; }" : "=r"(r) : "r"(lane & 1)); PUT(r);
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 32; vote.sync.all.pred p, p, -1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(lane)); PUT(r);
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 7; vote.sync.any.pred p, p, -1; selp.u32 %0, 1, 0, p; }" : "=r"(r) : "r"(lane)); PUT(r);
  ONE("match.any.sync.b32 %0, %1, -1;", "r"(lane % 3));
  asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %1, -1; @!p add.u32 %0, %0, 77; }" : "=r"(r) : "r"(lane / 32)); PUT(r);
  asm volatile("activemask.b32 %0;" : "=r"(r)); PUT(r);
  ONE("redux.sync.add.s32 %0, %1, -1;", "r"(lane - 20));
  ONE("redux.sync.max.s32 %0, %1, -1;", "r"(lane - 20));
  ONE("redux.sync.min.u32 %0, %1, -1;", "r"(lane + 5));
  ONE("redux.sync.and.b32 %0, %1, -1;", "r"(lane | 32));
  ONE("redux.sync.or.b32 %0, %1, -1;", "r"(lane));
  ONE("redux.sync.xor.b32 %0, %1, -1;", "r"(lane * lane));
  if (lane & 1) {
    ONE("redux.sync.add.s32 %0, %1, 0xaaaaaaaa;", "r"(lane));
    k -= 1;
  } else {
    out[32 * k + lane] = 0;
  }
  ++k;
  asm volatile("bar.warp.sync %0;" ::"r"(odd | ~odd));
  asm volatile("nanosleep.u32 20;");
  asm volatile("membar.cta;" ::: "memory");
  asm volatile("membar.gl;" ::: "memory");
  asm volatile("membar.sys;" ::: "memory");
#if __CUDA_ARCH__ >= 900
  asm volatile("{ .reg .pred p; .reg .b32 t; elect.sync t|p, -1; selp.u32 %0, 100, 0, p; add.u32 %0, %0, t; }" : "=r"(r)); PUT(r);
#endif
}

#ifdef REDUX_FLOAT
extern "C" __global__ void redux_float(const float *in, float *out) {
  float r;
  asm volatile("redux.sync.max.NaN.f32 %0, %1, -1;" : "=f"(r) : "f"(in[threadIdx.x]));
  out[threadIdx.x] = r;
  asm volatile("redux.sync.min.abs.f32 %0, %1, -1;" : "=f"(r) : "f"(in[32 + threadIdx.x]));
  out[32 + threadIdx.x] = r;
}
#endif
