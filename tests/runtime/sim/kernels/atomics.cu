// Every atomic form. Blocks of 64 threads; word k of `words` belongs to the k-th operation.
typedef unsigned long long u64;
typedef unsigned short u16;

#define AT(k) (words + 16 * (k))
#define ADD(k, form, type, letter, value)                                    \
  {                                                                          \
    type old;                                                                \
    asm volatile(form " %0, [%1], %2;" : "=" letter(old) : "l"(AT(k)), letter((type)(value)) : "memory"); \
  }
#define CAS(k, form, type, letter)                                           \
  {                                                                          \
    /* adds one by comparing and swapping */                                 \
    type seen = *(volatile type *)AT(k), old;                                \
    do {                                                                     \
      old = seen;                                                            \
      asm volatile(form " %0, [%1], %2, %3;"                                 \
                   : "=" letter(seen) : "l"(AT(k)), letter(old), letter((type)(old + 1)) : "memory"); \
    } while (seen != old);                                                   \
  }

extern "C" __global__ void atomics(char *words, int *shared_sums) {
  __shared__ unsigned count;
  __shared__ float sum;
  __shared__ int most;
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) { count = 0; sum = 0; most = -1000; }
  __syncthreads();
  ADD(0, "atom.add.release.gpu.global.u32", unsigned, "r", i)
  ADD(1, "atom.add.release.gpu.u32", unsigned, "r", i)
  ADD(2, "atom.global.add.f32", float, "f", 0.5f)
  ADD(3, "atom.global.add.f64", double, "d", 0.25)
  ADD(4, "atom.global.add.u32", unsigned, "r", 3)
  ADD(5, "atom.global.add.u64", u64, "l", 1ull << 33)
  ADD(6, "atom.global.and.b32", unsigned, "r", ~(1u << (i % 32)))
  ADD(7, "atom.global.or.b32", unsigned, "r", 1u << (i % 31))
  ADD(8, "atom.global.xor.b32", unsigned, "r", i)
  ADD(9, "atom.global.max.u64", u64, "l", i * 1000)
  ADD(10, "atom.global.min.s32", int, "r", -(int)i)
  ADD(11, "atom.global.inc.u32", unsigned, "r", 99)
  ADD(12, "atom.global.dec.u32", unsigned, "r", 99)
  ADD(13, "atom.global.cta.add.u32", unsigned, "r", 1)
  ADD(14, "atom.global.sys.add.u32", unsigned, "r", 1)
  ADD(15, "atom.global.exch.b32", unsigned, "r", i + 1)
  ADD(16, "atom.add.noftz.f16", u16, "h", 0x3c00)
  ADD(17, "atom.add.noftz.f16x2", unsigned, "r", 0x3c004000)
  CAS(18, "atom.global.cas.b32", unsigned, "r")
  CAS(19, "atom.global.cas.b64", u64, "l")
  CAS(20, "atom.global.cas.b16", u16, "h")
  CAS(21, "atom.relaxed.global.cas.b32", unsigned, "r")
  CAS(22, "atom.relaxed.global.cas.b64", u64, "l")
#if __CUDA_ARCH__ >= 900
  ADD(23, "atom.add.noftz.bf16", u16, "h", 0x3f80)
  ADD(24, "atom.add.noftz.bf16x2", unsigned, "r", 0x3f803f80)
  {
    float a, b, c, d;
    asm volatile("atom.global.add.v2.f32 {%0, %1}, [%2], {%3, %4};"
                 : "=f"(a), "=f"(b) : "l"(AT(25)), "f"(1.0f), "f"(2.0f) : "memory");
    asm volatile("atom.global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %6, %7, %8};"
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(AT(26)), "f"(1.0f), "f"(2.0f), "f"(3.0f), "f"(4.0f) : "memory");
    asm volatile("red.global.add.noftz.v4.f16x2 [%0], {%1, %1, %1, %1};" ::"l"(AT(27)), "r"(0x3c003c00) : "memory");
  }
#endif
  const unsigned at_count = (unsigned)__cvta_generic_to_shared(&count);
  const unsigned at_sum = (unsigned)__cvta_generic_to_shared(&sum);
  const unsigned at_most = (unsigned)__cvta_generic_to_shared(&most);
  unsigned old_u;
  float old_f;
  int old_s;
  asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(old_u) : "r"(at_count), "r"(2) : "memory");
  asm volatile("atom.shared.add.f32 %0, [%1], %2;" : "=f"(old_f) : "r"(at_sum), "f"(1e-40f) : "memory");
  asm volatile("atom.shared.max.s32 %0, [%1], %2;" : "=r"(old_s) : "r"(at_most), "r"((int)threadIdx.x - 70) : "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    shared_sums[3 * blockIdx.x] = count;
    shared_sums[3 * blockIdx.x + 1] = __float_as_int(sum);
    shared_sums[3 * blockIdx.x + 2] = most;
  }
}
