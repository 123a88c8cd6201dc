// Bulk copies, mbarriers, and what goes with them. sm_90 and up.
#if __CUDA_ARCH__ >= 900
#define SHARED(x) ((unsigned)__cvta_generic_to_shared(x))

// 64 threads: doubles 1,024 floats in shared memory between two bulk copies, adds them to `sums` in bulk too.
extern "C" __global__ void bulk(const float *in, float *out, float *sums) {
  __shared__ __align__(128) float held[1024];
  __shared__ __align__(8) unsigned long long arrived;
  const unsigned t = threadIdx.x;
  const unsigned bar = SHARED(&arrived);
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (t == 0) {
    unsigned long long state;
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], 4096;" ::"l"(in));
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], 4096;" : "=l"(state) : "r"(bar) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];"
                 ::"r"(SHARED(held)), "l"(in), "r"(bar) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 2048, [%2];"
                 ::"r"(SHARED(held + 512)), "l"(in + 512), "r"(bar) : "memory");
  }
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(bar) : "memory");
  }
  for (int i = t; i < 1024; i += 64) held[i] *= 2;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 4096;" ::"l"(out), "r"(SHARED(held)) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 4096;" ::"l"(sums), "r"(SHARED(held)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
  }
}
#endif
