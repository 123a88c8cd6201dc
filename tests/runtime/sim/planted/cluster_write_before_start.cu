// A block writes into the shared memory of another that may not have started.
// find: shared race; write of the shared memory of block; which may not have started
// run: grid=2 block=32 cluster=2
// args: in:x:64:4 out:y:64:4
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
  __shared__ float value[32];
  Store(At(&value[threadIdx.x], 1 - blockIdx.x), x[blockIdx.x * 32 + threadIdx.x]);
  Arrive();
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = value[threadIdx.x];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float value[32];
  Arrive();
  Wait();
  Store(At(&value[threadIdx.x], 1 - blockIdx.x), x[blockIdx.x * 32 + threadIdx.x]);
  Arrive();
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = value[threadIdx.x];
}
