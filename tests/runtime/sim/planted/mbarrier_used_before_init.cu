// Other threads use an mbarrier that the first has initialised, without a barrier between.
// find: shared race; bar[0]; write by block (0,0,0) thread (0,0,0); read by block
// run: grid=1 block=64
// args: in:x:64:4 out:y:64:4
#define SHARED(x) ((unsigned)__cvta_generic_to_shared(x))
static __device__ void Init(unsigned long long* bar, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SHARED(bar)), "r"(count) : "memory");
}
static __device__ void Expect(unsigned long long* bar, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SHARED(bar)), "r"(bytes) : "memory");
}
static __device__ void Wait(unsigned long long* bar, unsigned parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(SHARED(bar)), "r"(parity) : "memory");
  }
}
static __device__ void Fetch(void* to, const void* from, unsigned bytes, unsigned long long* bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(SHARED(to)), "l"(from), "r"(bytes), "r"(SHARED(bar)) : "memory");
}
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) Init(&bar, 64);
  tile[threadIdx.x] = x[threadIdx.x];
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SHARED(&bar)) : "memory");
  Wait(&bar, 0);
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) Init(&bar, 64);
  __syncthreads();
  tile[threadIdx.x] = x[threadIdx.x];
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SHARED(&bar)) : "memory");
  Wait(&bar, 0);
  y[threadIdx.x] = tile[63 - threadIdx.x];
}
