// A relaxed arrival at the cluster's barrier hands nothing over without a fence.
// find: shared race; value[; write by block; read by block
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
  value[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = Load(At(&value[31 - threadIdx.x], 1 - blockIdx.x));
  Arrive();
  Wait();
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float value[32];
  value[threadIdx.x] = x[blockIdx.x * 32 + threadIdx.x];
  asm volatile("fence.acq_rel.cluster;" ::: "memory");
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  Wait();
  y[blockIdx.x * 32 + threadIdx.x] = Load(At(&value[31 - threadIdx.x], 1 - blockIdx.x));
  Arrive();
  Wait();
}
