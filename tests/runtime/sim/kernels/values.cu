// Executes each row of values.inc, which stands in place of the line that names it, and stores its result.
#define TARGET (__CUDA_ARCH__ / 10)
#define ROW(arch, form, types, a, b, c, want) ROW_##types(arch, form)
#define FIRST_ROW constexpr int kFirst = __LINE__ + 1;  // one row a line
#define NEXT(arch, statement)                     \
  {                                               \
    constexpr int i = __LINE__ - kFirst;          \
    if constexpr (arch <= TARGET) {               \
      unsigned long long result;                  \
      const unsigned long long *x = in + 3 * i;   \
      statement;                                  \
      if (threadIdx.x == 0) out[i] = result;      \
    }                                             \
  }
#define RUN(text, D, d, ...)            \
  D value;                              \
  asm volatile(text : d(value) : __VA_ARGS__); \
  result = value

#define H(k) "h"((unsigned short)x[k])
#define R(k) "r"((unsigned)x[k])
#define L(k) "l"(x[k])
#define P(k) "r"((unsigned)x[k])

#define ROW_hh(arch, form) NEXT(arch, RUN(form " %0, %1;", unsigned short, "=h", H(0)))
#define ROW_hhh(arch, form) NEXT(arch, RUN(form " %0, %1, %2;", unsigned short, "=h", H(0), H(1)))
#define ROW_hhhh(arch, form) NEXT(arch, RUN(form " %0, %1, %2, %3;", unsigned short, "=h", H(0), H(1), H(2)))
#define ROW_hhhp(arch, form) NEXT(arch, RUN("{ .reg .pred p2; setp.ne.u32 p2, %3, 0; " form " %0, %1, %2, p2; }", unsigned short, "=h", H(0), H(1), P(2)))
#define ROW_hhr(arch, form) NEXT(arch, RUN(form " %0, %1, %2;", unsigned short, "=h", H(0), R(1)))
#define ROW_hl(arch, form) NEXT(arch, RUN(form " %0, %1;", unsigned short, "=h", L(0)))
#define ROW_hr(arch, form) NEXT(arch, RUN(form " %0, %1;", unsigned short, "=h", R(0)))
#define ROW_hrr(arch, form) NEXT(arch, RUN(form " %0, %1, %2;", unsigned short, "=h", R(0), R(1)))
#define ROW_lh(arch, form) NEXT(arch, RUN(form " %0, %1;", unsigned long long, "=l", H(0)))
#define ROW_ll(arch, form) NEXT(arch, RUN(form " %0, %1;", unsigned long long, "=l", L(0)))
#define ROW_lll(arch, form) NEXT(arch, RUN(form " %0, %1, %2;", unsigned long long, "=l", L(0), L(1)))
#define ROW_llll(arch, form) NEXT(arch, RUN(form " %0, %1, %2, %3;", unsigned long long, "=l", L(0), L(1), L(2)))
#define ROW_lllp(arch, form) NEXT(arch, RUN("{ .reg .pred p2; setp.ne.u32 p2, %3, 0; " form " %0, %1, %2, p2; }", unsigned long long, "=l", L(0), L(1), P(2)))
#define ROW_llr(arch, form) NEXT(arch, RUN(form " %0, %1, %2;", unsigned long long, "=l", L(0), R(1)))
#define ROW_lr(arch, form) NEXT(arch, RUN(form " %0, %1;", unsigned long long, "=l", R(0)))
#define ROW_lrr(arch, form) NEXT(arch, RUN(form " %0, %1, %2;", unsigned long long, "=l", R(0), R(1)))
#define ROW_lrrl(arch, form) NEXT(arch, RUN(form " %0, %1, %2, %3;", unsigned long long, "=l", R(0), R(1), L(2)))
#define ROW_phh(arch, form) NEXT(arch, RUN("{ .reg .pred q; " form " q, %1, %2; selp.u32 %0, 1, 0, q; }", unsigned, "=r", H(0), H(1)))
#define ROW_pll(arch, form) NEXT(arch, RUN("{ .reg .pred q; " form " q, %1, %2; selp.u32 %0, 1, 0, q; }", unsigned, "=r", L(0), L(1)))
#define ROW_pp(arch, form) NEXT(arch, RUN("{ .reg .pred p0, q; setp.ne.u32 p0, %1, 0; " form " q, p0; selp.u32 %0, 1, 0, q; }", unsigned, "=r", P(0)))
#define ROW_ppp(arch, form) NEXT(arch, RUN("{ .reg .pred p0, p1, q; setp.ne.u32 p0, %1, 0; setp.ne.u32 p1, %2, 0; " form " q, p0, p1; selp.u32 %0, 1, 0, q; }", unsigned, "=r", P(0), P(1)))
#define ROW_prr(arch, form) NEXT(arch, RUN("{ .reg .pred q; " form " q, %1, %2; selp.u32 %0, 1, 0, q; }", unsigned, "=r", R(0), R(1)))
#define ROW_rh(arch, form) NEXT(arch, RUN(form " %0, %1;", unsigned, "=r", H(0)))
#define ROW_rl(arch, form) NEXT(arch, RUN(form " %0, %1;", unsigned, "=r", L(0)))
#define ROW_rr(arch, form) NEXT(arch, RUN(form " %0, %1;", unsigned, "=r", R(0)))
#define ROW_rrr(arch, form) NEXT(arch, RUN(form " %0, %1, %2;", unsigned, "=r", R(0), R(1)))
#define ROW_rrrp(arch, form) NEXT(arch, RUN("{ .reg .pred p2; setp.ne.u32 p2, %3, 0; " form " %0, %1, %2, p2; }", unsigned, "=r", R(0), R(1), P(2)))
#define ROW_rrrr(arch, form) NEXT(arch, RUN(form " %0, %1, %2, %3;", unsigned, "=r", R(0), R(1), R(2)))
#define ROW_I(arch, form) NEXT(arch, RUN(form " %0, %1, %2, 12, 8;", unsigned long long, "=l", L(0), L(1)))

extern "C" __global__ void values(const unsigned long long *in, unsigned long long *out) {
  //#include "values.inc"
}
