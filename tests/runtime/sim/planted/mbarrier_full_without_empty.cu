// The producer refills a stage that consumers have not given back.
// find: shared race; tile[; read by block; asynchronous write by block
// run: grid=1 block=64
// args: in:x:128:4 out:y:64:4
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
  __shared__ __align__(16) float tile[32];
  __shared__ __align__(8) unsigned long long full, empty;
  if (threadIdx.x == 0) {
    Init(&full, 1);
    Init(&empty, 32);
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    for (int k = 0; k < 4; ++k) {
      if (k > 0) Wait(&full, (k - 1) % 2);
      Expect(&full, 128);
      Fetch(tile, x + 32 * k, 128, &full);
    }
  }
  if (threadIdx.x < 32) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      Wait(&full, k % 2);
      sum += tile[threadIdx.x];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SHARED(&empty)) : "memory");
    }
    y[threadIdx.x] = sum;
  }
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  __shared__ __align__(8) unsigned long long full, empty;
  if (threadIdx.x == 0) {
    Init(&full, 1);
    Init(&empty, 32);
  }
  __syncthreads();
  if (threadIdx.x == 32) {
    for (int k = 0; k < 4; ++k) {
      if (k > 0) Wait(&empty, (k - 1) % 2);
      Expect(&full, 128);
      Fetch(tile, x + 32 * k, 128, &full);
    }
  }
  if (threadIdx.x < 32) {
    float sum = 0;
    for (int k = 0; k < 4; ++k) {
      Wait(&full, k % 2);
      sum += tile[threadIdx.x];
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SHARED(&empty)) : "memory");
    }
    y[threadIdx.x] = sum;
  }
}
