// Every way to load and to store global memory: copy k moves the k-th piece of 64 bytes in its own way.
typedef unsigned long long u64;

#define PIECE (k * 64 + threadIdx.x * 16)
#define WAY_V4(load, store)                                                              \
  {                                                                                      \
    unsigned a, b, c, d;                                                                 \
    asm volatile(load " {%0, %1, %2, %3}, [%4];"                                         \
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(in + PIECE));                \
    asm volatile(store " [%0], {%1, %2, %3, %4};"                                        \
                 ::"l"(out + PIECE), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");         \
    ++k;                                                                                 \
  }
#define WAY_V4F(load, store)                                                             \
  {                                                                                      \
    float a, b, c, d;                                                                    \
    asm volatile(load " {%0, %1, %2, %3}, [%4];"                                         \
                 : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(in + PIECE));                \
    asm volatile(store " [%0], {%1, %2, %3, %4};"                                        \
                 ::"l"(out + PIECE), "f"(a), "f"(b), "f"(c), "f"(d) : "memory");         \
    ++k;                                                                                 \
  }
// One value at a time, as many as fill 16 bytes.
#define WAY_1(load, store, type, letter)                                                 \
  {                                                                                      \
    for (int j = 0; j < 16 / (int)sizeof(type); ++j) {                                   \
      type a;                                                                            \
      asm volatile(load " %0, [%1];" : "=" letter(a) : "l"(in + PIECE + j * sizeof(type))); \
      asm volatile(store " [%0], %1;" ::"l"(out + PIECE + j * sizeof(type)), letter(a) : "memory"); \
    }                                                                                    \
    ++k;                                                                                 \
  }
#define WAY_BYTE(load, store)                                                            \
  {                                                                                      \
    for (int j = 0; j < 16; ++j) {                                                       \
      unsigned a;                                                                        \
      asm volatile(load " %0, [%1];" : "=r"(a) : "l"(in + PIECE + j));                   \
      asm volatile(store " [%0], %1;" ::"l"(out + PIECE + j), "r"(a) : "memory");        \
    }                                                                                    \
    ++k;                                                                                 \
  }

// Four threads.
extern "C" __global__ void copies(const char *in, char *out, int ways) {
  int k = 0;
  WAY_V4F("ld.global.ca.v4.f32", "st.global.wb.v4.f32")
  WAY_V4F("ld.global.cg.v4.f32", "st.global.cg.v4.f32")
  WAY_V4F("ld.global.cs.v4.f32", "st.global.cs.v4.f32")
  WAY_V4F("ld.global.cv.v4.f32", "st.global.wt.v4.f32")
  WAY_V4F("ld.global.lu.v4.f32", "st.global.v4.f32")
  WAY_V4F("ld.global.nc.v4.f32", "st.global.v4.f32")
  WAY_V4("ld.global.cs.v4.u32", "st.global.cs.v4.u32")
  WAY_V4("ld.global.nc.v4.u32", "st.global.v4.u32")
  WAY_V4("ld.global.nc.L1::no_allocate.L2::128B.v4.u32", "st.global.v4.u32")
  WAY_1("ld.global.f32", "st.global.f32", float, "f")
  WAY_1("ld.global.cg.f32", "st.volatile.global.f32", float, "f")
  WAY_1("ld.volatile.global.f32", "st.global.f32", float, "f")
  WAY_1("ld.global.nc.f32", "st.global.f32", float, "f")
  WAY_1("ld.f32", "st.f32", float, "f")
  WAY_1("ld.global.f64", "st.global.f64", double, "d")
  WAY_1("ld.global.u32", "st.global.u32", unsigned, "r")
  WAY_1("ld.global.nc.u32", "st.global.u32", unsigned, "r")
  WAY_1("ld.volatile.global.u32", "st.global.u32", unsigned, "r")
  WAY_1("ld.relaxed.gpu.global.u32", "st.release.gpu.global.u32", unsigned, "r")
  WAY_1("ld.acquire.gpu.global.u32", "st.global.u32", unsigned, "r")
  WAY_1("ld.acquire.gpu.u32", "st.global.u32", unsigned, "r")
  WAY_1("ld.global.u64", "st.global.u64", u64, "l")
  WAY_1("ld.global.nc.u64", "st.global.u64", u64, "l")
  WAY_1("ld.global.u16", "st.global.u16", unsigned short, "h")
  WAY_1("ld.global.nc.u16", "st.global.u16", unsigned short, "h")
  WAY_BYTE("ld.global.u8", "st.global.u8")
  {
    float a, b, c, d;
    asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(a), "=f"(b) : "l"(in + PIECE));
    asm volatile("ld.global.v2.f32 {%0, %1}, [%2+8];" : "=f"(c), "=f"(d) : "l"(in + PIECE));
    asm volatile("st.global.v2.f32 [%0], {%1, %2};" ::"l"(out + PIECE), "f"(a), "f"(b) : "memory");
    asm volatile("st.global.v2.f32 [%0+8], {%1, %2};" ::"l"(out + PIECE), "f"(c), "f"(d) : "memory");
    ++k;
  }
  {
    double a, b;
    asm volatile("ld.global.v2.f64 {%0, %1}, [%2];" : "=d"(a), "=d"(b) : "l"(in + PIECE));
    asm volatile("st.global.f64 [%0], %1;" ::"l"(out + PIECE), "d"(a) : "memory");
    asm volatile("st.global.f64 [%0+8], %1;" ::"l"(out + PIECE), "d"(b) : "memory");
    ++k;
  }
  {
    for (int j = 0; j < 4; ++j) {
      unsigned short a, b;
      asm volatile("ld.global.u16 %0, [%1];" : "=h"(a) : "l"(in + PIECE + 4 * j));
      asm volatile("ld.global.u16 %0, [%1+2];" : "=h"(b) : "l"(in + PIECE + 4 * j));
      asm volatile("st.global.v2.u16 [%0], {%1, %2};" ::"l"(out + PIECE + 4 * j), "h"(a), "h"(b) : "memory");
    }
    ++k;
  }
  {
    u64 first, last;
    unsigned a, b, c, d;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(first));
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
    asm volatile("ld.global.nc.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(in + PIECE), "l"(first));
    asm volatile("st.global.L1::no_allocate.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;"
                 ::"l"(out + PIECE), "r"(a), "r"(b), "r"(c), "r"(d), "l"(last) : "memory");
    ++k;
  }
#if __CUDA_ARCH__ >= 1000
  if (threadIdx.x < 2) {
    for (int store = 0; store < 2; ++store) {
      const int at = (k + store) * 64 + threadIdx.x * 32;
      float x[8];
      asm volatile("ld.global.nc.v8.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
                   : "=f"(x[0]), "=f"(x[1]), "=f"(x[2]), "=f"(x[3]), "=f"(x[4]), "=f"(x[5]), "=f"(x[6]), "=f"(x[7])
                   : "l"(in + at));
      if (store == 0) {
        asm volatile("st.global.v8.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
                     ::"l"(out + at), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "f"(x[4]), "f"(x[5]), "f"(x[6]), "f"(x[7]) : "memory");
      } else {
        asm volatile("st.global.L1::evict_last.L2::evict_last.v8.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};"
                     ::"l"(out + at), "f"(x[0]), "f"(x[1]), "f"(x[2]), "f"(x[3]), "f"(x[4]), "f"(x[5]), "f"(x[6]), "f"(x[7]) : "memory");
      }
    }
  }
  k += 2;
#endif
  // Hints alone: nothing is read, and what is discarded nobody reads.
  asm volatile("prefetch.global.L2 [%0];" ::"l"(in));
  asm volatile("prefetchu.L1 [%0];" ::"l"(in));
  asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(in));
  if (threadIdx.x == 0) asm volatile("discard.global.L2 [%0], 128;" ::"l"(out + ways * 64) : "memory");
}
