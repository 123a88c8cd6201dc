// All blocks add to one place of the first block's shared memory without atomics.
// find: shared race; sum[0]; by block
// run: grid=4 block=32 cluster=4
// args: in:x:4:4 out:y:1:4
static __device__ unsigned At(const void* x, unsigned rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"((unsigned)__cvta_generic_to_shared(x)), "r"(rank));
  return at;
}
static __device__ float Load(unsigned at) {
  float x;
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(at) : "memory");
  return x;
}
static __device__ void Store(unsigned at, float x) {
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(at), "f"(x) : "memory");
}
static __device__ void Arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
static __device__ void Wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float sum[1];
  if (threadIdx.x == 0) sum[0] = 0;
  Arrive();
  Wait();
  if (threadIdx.x == 0) {
    const unsigned at = At(sum, 0);
    Store(at, Load(at) + x[blockIdx.x]);
  }
  Arrive();
  Wait();
  if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = sum[0];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float sum[1];
  if (threadIdx.x == 0) sum[0] = 0;
  Arrive();
  Wait();
  if (threadIdx.x == 0) {
    const unsigned at = At(sum, 0);
    asm volatile("red.relaxed.cluster.shared::cluster.add.f32 [%0], %1;" ::"r"(at), "f"(x[blockIdx.x]) : "memory");
  }
  Arrive();
  Wait();
  if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = sum[0];
}
