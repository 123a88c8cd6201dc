// Values of st.async are read after a barrier of the cluster: they are there when the mbarrier says so.
// find: shared race; values[; asynchronous write by block; read by block
// run: grid=2 block=32 cluster=2
// args: in:x:64:4 out:y:64:4
#define SHARED(x) ((unsigned)__cvta_generic_to_shared(x))
static __device__ void Init(unsigned long long* bar, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SHARED(bar)), "r"(count) : "memory");
}
static __device__ void Expect(unsigned long long* bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SHARED(bar)), "r"(bytes) : "memory");
}
static __device__ void WaitAt(unsigned long long* bar, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(SHARED(bar)), "r"(parity) : "memory");
  }
}
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
  __shared__ float values[32];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) {
    Init(&bar, 1);
    Expect(&bar, 128);
  }
  Arrive();
  Wait();
  const unsigned other = 1 - blockIdx.x;
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];"
               ::"r"(At(&values[threadIdx.x], other)), "f"(x[32 * blockIdx.x + threadIdx.x]), "r"(At(&bar, other)) : "memory");
  Arrive();
  Wait();
  y[32 * blockIdx.x + threadIdx.x] = values[31 - threadIdx.x];
  WaitAt(&bar, 0);
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float values[32];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) {
    Init(&bar, 1);
    Expect(&bar, 128);
  }
  Arrive();
  Wait();
  const unsigned other = 1 - blockIdx.x;
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];"
               ::"r"(At(&values[threadIdx.x], other)), "f"(x[32 * blockIdx.x + threadIdx.x]), "r"(At(&bar, other)) : "memory");
  WaitAt(&bar, 0);
  y[32 * blockIdx.x + threadIdx.x] = values[31 - threadIdx.x];
  WaitAt(&bar, 0);
}
