// A barrier of the block does not wait for a bulk copy.
// find: shared race; tile[; asynchronous write by block; read by block
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
  __shared__ __align__(16) float tile[64];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) Init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    Expect(&bar, 256);
    Fetch(tile, x, 256, &bar);
  }
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
  Wait(&bar, 0);
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ __align__(16) float tile[64];
  __shared__ __align__(8) unsigned long long bar;
  if (threadIdx.x == 0) Init(&bar, 1);
  __syncthreads();
  if (threadIdx.x == 0) {
    Expect(&bar, 256);
    Fetch(tile, x, 256, &bar);
  }
  Wait(&bar, 0);
  y[threadIdx.x] = tile[63 - threadIdx.x];
  Wait(&bar, 0);
}
