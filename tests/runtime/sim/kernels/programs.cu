// Programs that people write: reductions, scans, histograms, aggregated atomics, barriers over a grid.
typedef unsigned long long u64;

__device__ int warp_sum(int x) {
  for (int s = 16; s > 0; s /= 2) x += __shfl_down_sync(~0u, x, s);
  return x;
}

extern "C" __global__ void block_reduce(const int *in, int *out, int n) {
  __shared__ int held[32];
  int sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) held[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = warp_sum(threadIdx.x < blockDim.x / 32 ? held[threadIdx.x] : 0);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

// The last block to finish adds the partial sums.
extern "C" __global__ void grid_reduce(const int *in, int *partial, unsigned *finished, int *out, int n) {
  __shared__ int tree[256];
  __shared__ bool last;
  int sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  tree[threadIdx.x] = sum;
  for (int s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) tree[threadIdx.x] += tree[threadIdx.x + s];
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = tree[0];
    __threadfence();
    last = atomicAdd(finished, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  sum = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += 256) sum += ((volatile int *)partial)[i];
  tree[threadIdx.x] = sum;
  for (int s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) tree[threadIdx.x] += tree[threadIdx.x + s];
  }
  if (threadIdx.x == 0) *out = tree[0];
}

// Inclusive scan of one block's 1,024 elements, by doubling in shared memory.
extern "C" __global__ void block_scan(const int *in, int *out) {
  __shared__ int held[2][512];
  const int t = threadIdx.x, base = blockIdx.x * 512;
  int from = 0;
  held[0][t] = in[base + t];
  for (int s = 1; s < 512; s *= 2) {
    __syncthreads();
    held[1 - from][t] = held[from][t] + (t >= s ? held[from][t - s] : 0);
    from = 1 - from;
  }
  out[base + t] = held[from][t];
}

// The same with shuffles: warps scan, the first warp scans their sums.
extern "C" __global__ void shuffle_scan(const int *in, int *out) {
  __shared__ int sums[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  int x = in[blockIdx.x * blockDim.x + t];
  for (int s = 1; s < 32; s *= 2) {
    const int y = __shfl_up_sync(~0u, x, s);
    if (lane >= s) x += y;
  }
  if (lane == 31) sums[warp] = x;
  __syncthreads();
  if (warp == 0) {
    int y = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (int s = 1; s < 32; s *= 2) {
      const int z = __shfl_up_sync(~0u, y, s);
      if (lane >= s) y += z;
    }
    sums[lane] = y;
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = x + (warp > 0 ? sums[warp - 1] : 0);
}

// A scan over the whole grid in one pass: each block looks back at those before it.
extern "C" __global__ void lookback_scan(const int *in, int *out, volatile unsigned *states, unsigned *ticket) {
  __shared__ int held[256];
  __shared__ unsigned tile;
  __shared__ int before;
  if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
  __syncthreads();
  const int t = threadIdx.x, base = tile * 256;
  held[t] = in[base + t];
  for (int s = 1; s < 256; s *= 2) {
    __syncthreads();
    const int y = t >= s ? held[t - s] : 0;
    __syncthreads();
    held[t] += y;
  }
  __syncthreads();
  if (t == 0) {
    // The upper two bits: 1 for the tile's own sum, 2 for the sum up to it.
    const unsigned own = held[255] & 0x3fffffff;
    states[tile] = (tile == 0 ? 2u : 1u) << 30 | own;
    int sum = 0;
    for (int i = tile - 1; i >= 0;) {
      const unsigned state = states[i];
      if (state >> 30 == 0) continue;
      sum += state & 0x3fffffff;
      if (state >> 30 == 2) break;
      --i;
    }
    states[tile] = 2u << 30 | (own + sum);
    before = sum;
  }
  __syncthreads();
  out[base + t] = held[t] + before;
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, int n) {
  __shared__ unsigned held[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) held[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&held[in[i]], 1);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) atomicAdd(&bins[i], held[i]);
}

// Keeps the elements that are odd, in any order: one atomic for the lanes of a warp that have one.
extern "C" __global__ void compact(const int *in, int *out, unsigned *count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || in[i] % 2 == 0) return;
  const unsigned active = __activemask();
  const int leader = __ffs(active) - 1, lane = threadIdx.x % 32;
  unsigned place = 0;
  if (lane == leader) place = atomicAdd(count, __popc(active));
  place = __shfl_sync(active, place, leader);
  out[place + __popc(active & ((1u << lane) - 1))] = in[i];
}

// Sums by key: the lanes with the same key add up before one of them goes to memory.
extern "C" __global__ void sums_by_key(const int *keys, const int *values, int *sums, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned here = __ballot_sync(~0u, i < n);
  if (i >= n) return;
  const unsigned peers = __match_any_sync(here, keys[i]);
  int sum = 0;
  for (unsigned left = peers; left != 0; left &= left - 1) sum += __shfl_sync(peers, values[i], __ffs(left) - 1);
  if (threadIdx.x % 32 == __ffs(peers) - 1) atomicAdd(&sums[keys[i]], sum);
}

// All blocks meet twice at a barrier in global memory. Cooperative.
extern "C" __global__ void cooperative_mean(const float *in, float *out, float *partial, unsigned *barrier, int n) {
  __shared__ float held[256];
  const auto meet = [&](unsigned round) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(barrier, 1);
      while (*(volatile unsigned *)barrier < round * gridDim.x) __nanosleep(50);
      __threadfence();
    }
    __syncthreads();
  };
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  held[threadIdx.x] = sum;
  for (int s = 128; s > 0; s /= 2) {
    __syncthreads();
    if (threadIdx.x < s) held[threadIdx.x] += held[threadIdx.x + s];
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = held[0];
  meet(1);
  float mean = 0;
  for (int b = 0; b < gridDim.x; ++b) mean += ((volatile float *)partial)[b];
  mean /= n;
  meet(2);
  if (threadIdx.x == 0) partial[blockIdx.x] = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) out[i] = in[i] - mean;
}

// A lock that the lanes of one warp take in turn: without independent scheduling nobody comes out.
extern "C" __global__ void spin_lock(unsigned *lock, int *counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *(volatile int *)counter = *(volatile int *)counter + 1;
  __threadfence();
  atomicExch(lock, 0);
}

// Warp 0 fills a ring of four places that warp 1 empties, through flags in shared memory.
extern "C" __global__ void ring(const int *in, int *out, int n) {
  __shared__ volatile int place[4], full[4];
  if (threadIdx.x < 4) full[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      while (full[i % 4] != 0) {
      }
      place[i % 4] = in[i];
      __threadfence_block();
      full[i % 4] = 1;
    }
  } else if (threadIdx.x == 32) {
    for (int i = 0; i < n; ++i) {
      while (full[i % 4] == 0) {
      }
      __threadfence_block();
      out[i] = place[i % 4] * 2;
      full[i % 4] = 0;
    }
  }
}
