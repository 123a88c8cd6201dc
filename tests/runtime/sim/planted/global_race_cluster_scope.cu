// A flag is released to the cluster, but the reader is in another one.
// find: global race; y[0]
// run: grid=2 block=1
// args: zero:y:3:4
template <bool kCluster>
__device__ void Pass(int* y) {
  if (blockIdx.x == 0) {
    y[0] = 42;
    if (kCluster) asm volatile("st.release.cluster.global.u32 [%0], 1;" ::"l"(y + 1) : "memory");
    if (!kCluster) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(y + 1) : "memory");
    return;
  }
  int flag = 0;
  while (flag == 0) {
    if (kCluster) {
      asm volatile("ld.acquire.cluster.global.u32 %0, [%1];" : "=r"(flag) : "l"(y + 1) : "memory");
    } else {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(flag) : "l"(y + 1) : "memory");
    }
  }
  y[2] = y[0];
}
extern "C" __global__ void faulty(int* y) { Pass<true>(y); }
extern "C" __global__ void mended(int* y) { Pass<false>(y); }
