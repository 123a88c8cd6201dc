// Clusters: the shared memory of other blocks, their barriers. sm_90 and up.
#if __CUDA_ARCH__ >= 900
#define SHARED(x) ((unsigned)__cvta_generic_to_shared(x))
#define MAP(to, x, rank) asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(SHARED(x)), "r"(rank))

// Clusters of 4 blocks of 64 threads. out: 8 words a block.
extern "C" __global__ void cluster_forms(const unsigned *in, unsigned *out) {
  __shared__ __align__(16) float values[64];
  __shared__ float sum;
  __shared__ unsigned async_words[8];
  __shared__ unsigned count;
  __shared__ __align__(8) unsigned long long bar, remote;
  const unsigned t = threadIdx.x;
  unsigned rank, ranks;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
  values[t] = rank * 100 + t;
  if (t == 0) {
    sum = 0;
    count = 0;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(SHARED(&bar)) : "memory");
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SHARED(&remote)), "r"(ranks) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  // Reads of the next block, by shared::cluster and by generic addresses.
  unsigned at;
  float f;
  MAP(at, &values[63 - t], (rank + 1) % ranks);
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(f) : "r"(at) : "memory");
  unsigned long long generic;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&values[t]), "r"((rank + 2) % ranks));
  const float g = *(volatile float *)generic;
  // Everybody adds to block 0.
  MAP(at, &sum, 0);
  float old;
  asm volatile("atom.relaxed.cluster.shared::cluster.add.f32 %0, [%1], %2;" : "=f"(old) : "r"(at), "f"(f + g) : "memory");
  asm volatile("barrier.cluster.arrive;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
  // Asynchronous stores and additions into the next block, counted at its mbarrier.
  if (t == 0) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], 36;" : "=l"(state) : "r"(SHARED(&bar)) : "memory");
  }
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  unsigned there;
  MAP(there, &bar, (rank + 1) % ranks);
  if (t < 8) {
    MAP(at, &async_words[t], (rank + 1) % ranks);
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(at), "r"(in[t] + rank), "r"(there) : "memory");
  }
  if (t == 8) {
    MAP(at, &count, (rank + 1) % ranks);
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(at), "r"(rank + 5), "r"(there) : "memory");
  }
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(SHARED(&bar)) : "memory");
  }
  unsigned words = 0;
  for (int i = 0; i < 8; ++i) words = words * 3 + async_words[i];
  // A store and an arrival at every block's mbarrier.
  if (t < ranks) {
    MAP(at, &values[rank], t);
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(at), "f"(1000.0f + rank) : "memory");
    MAP(at, &remote, t);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at) : "memory");
  }
  for (done = 0; done == 0;) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(SHARED(&remote)) : "memory");
  }
  unsigned *y = out + 8 * blockIdx.x;
  if (t == 0) {
    y[0] = rank;
    y[1] = (unsigned)sum;
    y[2] = words;
    y[3] = count;
    y[4] = (unsigned)(values[0] + values[1] + values[2] + values[3]);
  }
  asm volatile("barrier.cluster.arrive;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
}

// The mean and variance of rows that a cluster of 8 blocks holds together: each block keeps its part, partial sums go to all
// through distributed shared memory.
extern "C" __global__ void cluster_rows(const float *in, float *out, int columns) {
  extern __shared__ float part[];
  __shared__ float partial[2][16], warp_sums[32];
  unsigned rank, ranks;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(ranks));
  const int mine = columns / ranks;
  const float *row = in + (blockIdx.x / ranks) * (size_t)columns + rank * mine;
  float *to = out + (blockIdx.x / ranks) * (size_t)columns + rank * mine;
  const auto cluster_sum = [&](float x, int which) {
    for (int s = 16; s > 0; s /= 2) x += __shfl_xor_sync(~0u, x, s);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x < blockDim.x / 32 ? warp_sums[threadIdx.x] : 0;
    if (threadIdx.x < 32) {
      for (int s = 16; s > 0; s /= 2) x += __shfl_xor_sync(~0u, x, s);
      if (threadIdx.x < ranks) {
        unsigned at;
        MAP(at, &partial[which][rank], threadIdx.x);
        asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(at), "f"(x) : "memory");
      }
    }
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    float total = 0;
    for (unsigned r = 0; r < ranks; ++r) total += partial[which][r];
    return total;
  };
  float sum = 0;
  for (int i = threadIdx.x; i < mine; i += blockDim.x) sum += part[i] = row[i];
  // All blocks have started: their shared memory is there.
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  const float mean = cluster_sum(sum, 0) / columns;
  float square = 0;
  for (int i = threadIdx.x; i < mine; i += blockDim.x) square += (part[i] - mean) * (part[i] - mean);
  const float scale = rsqrtf(cluster_sum(square, 1) / columns + 1e-5f);
  for (int i = threadIdx.x; i < mine; i += blockDim.x) to[i] = (part[i] - mean) * scale;
  asm volatile("barrier.cluster.arrive;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
}
#endif
