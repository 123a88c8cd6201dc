// Calls: by name, through a table of functions, of functions that call themselves; traps and exits.
typedef float (*Function)(float, float);
extern "C" __device__ __noinline__ float plus(float a, float b) { return a + b; }
extern "C" __device__ __noinline__ float times(float a, float b) { return a * b; }
extern "C" __device__ __noinline__ float minus(float a, float b) { return a - b; }
__device__ const Function functions[3] = {plus, times, minus};
extern "C" __device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __device__ __noinline__ unsigned long long collatz(unsigned long long n) { return n % 2 == 0 ? n / 2 : 3 * n + 1; }

// 32 threads; 4 words of output each.
extern "C" __global__ void calls(unsigned *out) {
  const unsigned t = threadIdx.x;
  unsigned *y = out + 4 * t;
  y[0] = (unsigned)functions[t % 3]((float)(t + 10), 3.0f);
  y[1] = ackermann(2, t % 4);
  unsigned r;
  asm volatile("{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %1; st.param.b32 [b], %2; "
               "call (c), ackermann, (a, b); ld.param.b32 %0, [c]; }" : "=r"(r) : "r"(1), "r"(t));
  y[2] = r;
  unsigned long long n = t + 1, steps = 0;
  for (; n != 1 && steps < 200; ++steps) n = collatz(n);
  float f;
  asm volatile("{ .param .f32 a; .param .f32 b; .param .f32 c; st.param.f32 [a], %1; st.param.f32 [b], %2; "
               "call.uni (c), times, (a, b); ld.param.f32 %0, [c]; }" : "=f"(f) : "f"((float)t), "f"(0.5f));
  asm volatile("{ .param .b64 a; .param .b64 c; st.param.b64 [a], %1; "
               "call.uni (c), collatz, (a); ld.param.b64 %0, [c]; }" : "=l"(n) : "l"((unsigned long long)t));
  y[3] = (unsigned)steps + 1000 * (unsigned)(2 * f) + 100000 * (unsigned)n;
  if (t >= 30) asm volatile("exit;");
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  y[0] += 100;
}

extern "C" __global__ void traps(const unsigned *in) {
  if (in[threadIdx.x] == 5) asm volatile("trap;");
}

// One thread each: clocks and the words that a cooperative launch passes.
extern "C" __global__ void registers(unsigned *out) {
  unsigned a, b, c;
  asm volatile("mov.u32 %0, %%envreg1;" : "=r"(a));
  asm volatile("mov.u32 %0, %%envreg2;" : "=r"(b));
  const long long before = clock64();
  asm volatile("mov.u32 %0, %%lanemask_lt;" : "=r"(c));
  const long long after = clock64();
  unsigned *y = out + 8 * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
  const unsigned t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  if (t != blockDim.x * blockDim.y * blockDim.z - 1) return;
  y[0] = a + b;
  y[1] = after > before;
  y[2] = __popc(c);
  y[3] = t;
  y[4] = blockIdx.x + 10 * blockIdx.y + 100 * blockIdx.z;
  y[5] = gridDim.x + 10 * gridDim.y + 100 * gridDim.z;
  y[6] = threadIdx.x + 10 * threadIdx.y + 100 * threadIdx.z;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(y[7]));
}
