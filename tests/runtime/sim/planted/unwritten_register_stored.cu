// A register reaches the output that is set on one path only.
// find: uninitialised read; what is stored depends on an uninitialised register; thread (8,0,0)
// run: grid=1 block=32
// args: in:x:32:4 out:y:32:4
extern "C" __global__ void faulty(const float* x, float* y) {
  float v;
  asm volatile(
      "{.reg .f32 t; .reg .pred p; setp.lt.u32 p, %1, 8; @p mov.f32 t, %2; add.f32 %0, t, 1.0;}"
      : "=f"(v)
      : "r"(threadIdx.x), "f"(x[threadIdx.x]));
  y[threadIdx.x] = v;
}
extern "C" __global__ void mended(const float* x, float* y) {
  float v;
  asm volatile(
      "{.reg .f32 t; .reg .pred p; setp.lt.u32 p, %1, 8; mov.f32 t, 0.0; @p mov.f32 t, %2; "
      "add.f32 %0, t, 1.0;}"
      : "=f"(v)
      : "r"(threadIdx.x), "f"(x[threadIdx.x]));
  y[threadIdx.x] = v;
}
