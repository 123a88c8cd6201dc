// Shared, local, constant and parameter memory in every width; addresses from and to generic ones.
typedef unsigned long long u64;
extern "C" __constant__ float factors[4] = {2.0f, 0.5f, -1.0f, 8.0f};

// 32 threads; in and out hold 16 words a thread.
extern "C" __global__ void spaces(const unsigned *in, unsigned *out, float scale, int shift, unsigned short narrow, signed char tiny) {
  __shared__ __align__(16) unsigned held[32 * 16];
  const unsigned t = threadIdx.x;
  const unsigned base = (unsigned)__cvta_generic_to_shared(held) + 64 * t;
  const unsigned *x = in + 16 * t;
  unsigned *y = out + 16 * t;
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(base), "r"(x[0]) : "memory");
  asm volatile("st.shared.f32 [%0+4], %1;" ::"r"(base), "f"(__uint_as_float(x[1])) : "memory");
  asm volatile("st.shared.v2.f32 [%0+8], {%1, %2};" ::"r"(base), "f"(__uint_as_float(x[2])), "f"(__uint_as_float(x[3])) : "memory");
  asm volatile("st.shared.v4.f32 [%0+16], {%1, %2, %3, %4};" ::"r"(base), "f"(__uint_as_float(x[4])), "f"(__uint_as_float(x[5])),
               "f"(__uint_as_float(x[6])), "f"(__uint_as_float(x[7])) : "memory");
  asm volatile("bar.warp.sync -1;" ::: "memory");
  const unsigned other = (unsigned)__cvta_generic_to_shared(held) + 64 * (31 - t);
  unsigned a, b, c, d;
  float f, g, h, i;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(other));
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4+16];" : "=f"(f), "=f"(g), "=f"(h), "=f"(i) : "r"(other));
  y[0] = a; y[1] = b; y[2] = c; y[3] = d;
  y[4] = __float_as_uint(f); y[5] = __float_as_uint(g); y[6] = __float_as_uint(h); y[7] = __float_as_uint(i);
  asm volatile("ld.shared.u32 %0, [%1+4];" : "=r"(a) : "r"(other));
  asm volatile("ld.shared.f32 %0, [%1+8];" : "=f"(f) : "r"(other));
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2+8];" : "=f"(g), "=f"(h) : "r"(other));
  y[8] = a; y[9] = __float_as_uint(f); y[10] = __float_as_uint(h);
  // Local memory, through its own and through generic addresses.
  __align__(16) double depot[8];
  u64 local, generic = (u64)depot;
  asm volatile("cvta.to.local.u64 %0, %1;" : "=l"(local) : "l"(generic));
  asm volatile("st.local.f64 [%0], %1;" ::"l"(local), "d"(1.5 * t) : "memory");
  asm volatile("st.local.f32 [%0+8], %1;" ::"l"(local), "f"(2.5f * t) : "memory");
  asm volatile("st.local.u32 [%0+12], %1;" ::"l"(local), "r"(t + 7) : "memory");
  asm volatile("st.local.v4.f32 [%0+16], {%1, %2, %3, %4};" ::"l"(local), "f"(1.0f), "f"(2.0f), "f"(3.0f), "f"((float)t) : "memory");
  asm volatile("ld.local.u32 %0, [%1+12];" : "=r"(a) : "l"(local));
  asm volatile("ld.local.f32 %0, [%1+28];" : "=f"(f) : "l"(local));
  u64 again;
  asm volatile("cvta.local.u64 %0, %1;" : "=l"(again) : "l"(local));
  y[11] = a + (unsigned)f + (unsigned)(depot[0] * 2) + (again == generic ? 1000 : 0);
  // Constants and parameters.
  asm volatile("{ .reg .b64 a; mov.u64 a, factors; add.u64 a, a, %1; ld.const.f32 %0, [a]; }" : "=f"(f) : "l"((u64)(4 * (t % 4))));
  y[12] = __float_as_uint(f * scale * factors[0]);
  int s;
  unsigned short n;
  unsigned m;
  asm volatile("ld.param.s32 %0, [spaces_param_3];" : "=r"(s));
  asm volatile("ld.param.b32 %0, [spaces_param_2];" : "=r"(a));
  asm volatile("ld.param.f32 %0, [spaces_param_2];" : "=f"(f));
  asm volatile("ld.param.u32 %0, [spaces_param_3];" : "=r"(b));
  asm volatile("ld.param.u64 %0, [spaces_param_0];" : "=l"(again));
  asm volatile("ld.param.u16 %0, [spaces_param_4];" : "=h"(n));
  asm volatile("ld.param.s8 %0, [spaces_param_5];" : "=r"(m));
  y[13] = (s >> 1) + (int)(f == __uint_as_float(a)) + b + n + m + (again == (u64)in) + shift + narrow + tiny;
  u64 to, from;
  asm volatile("cvta.to.global.u64 %0, %1;" : "=l"(to) : "l"(in));
  asm volatile("cvta.global.u64 %0, %1;" : "=l"(from) : "l"(to));
  asm volatile("cvta.shared.u64 %0, %1;" : "=l"(again) : "l"((u64)base));
  y[14] = *(const unsigned *)from;
  y[15] = *(const unsigned *)again;
}
