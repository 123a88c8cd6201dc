// The second round's values are written while a neighbour may still read the first's.
// find: shared race; value[; read by block; write by block
// run: grid=2 block=64 cluster=2
// args: in:x:256:4 out:y:128:4
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
  __shared__ float value[64];
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    value[threadIdx.x] = x[(2 * k + blockIdx.x) * 64 + threadIdx.x];
    Arrive();
    Wait();
    sum += Load(At(&value[63 - threadIdx.x], 1 - blockIdx.x));
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
  Arrive();
  Wait();
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float value[64];
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    value[threadIdx.x] = x[(2 * k + blockIdx.x) * 64 + threadIdx.x];
    Arrive();
    Wait();
    sum += Load(At(&value[63 - threadIdx.x], 1 - blockIdx.x));
    Arrive();
    Wait();
  }
  y[blockIdx.x * 64 + threadIdx.x] = sum;
  Arrive();
  Wait();
}
