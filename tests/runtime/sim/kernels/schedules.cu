// Kernels whose results depend on who goes when, and kernels whose results must not.

// Lost updates: every thread reads, then writes. Accesses that other threads see.
extern "C" __global__ void racy_strong(unsigned *x) {
  for (int i = 0; i < 10; ++i) {
    volatile unsigned *word = x + (threadIdx.x + i) % 4;
    *word = *word * 3 + threadIdx.x + 1000 * blockIdx.x;
  }
}

// The same with plain accesses.
extern "C" __global__ void racy_plain(unsigned *x) {
  for (int i = 0; i < 50; ++i) {
    unsigned *word = x + (threadIdx.x / 32 + i) % 4;
    *word = *word * 3 + threadIdx.x + 1000 * blockIdx.x;
    __syncwarp();
  }
}

// The lanes of one warp, on four paths.
extern "C" __global__ void racy_lanes(unsigned *x) {
  volatile __shared__ unsigned held;
  const unsigned lane = threadIdx.x;
  if (lane == 0) held = 1;
  __syncwarp();
  for (int i = 0; i < 8; ++i) {
    switch (lane % 4) {
      case 0: held = held * 5 + 1; break;
      case 1: held = held * 7 + 2; break;
      case 2: held = held * 11 + 3; break;
      default: held = held * 13 + 4; break;
    }
  }
  __syncwarp();
  if (lane == 0) *x = held;
}

// The order in which threads come.
extern "C" __global__ void arrivals(unsigned *count, unsigned *order) {
  order[atomicAdd(count, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
}

// Lanes come to every .sync on paths of different length, some never. out: 32 words.
extern "C" __global__ void sync_on_paths(unsigned *out) {
  const unsigned lane = threadIdx.x;
  unsigned x = lane;
  for (unsigned i = 0; i < lane % 7; ++i) x = x * 3 + i;
  x += __shfl_xor_sync(~0u, x, 1);
  if (lane % 3 == 0) {
    for (unsigned i = 0; i < lane; ++i) x += i * i;
    x += __reduce_add_sync(0x49249249u, x & 255);
  } else if (lane % 3 == 1) {
    x ^= __ballot_sync(0x92492492u, x & 4);
  } else {
    x += __match_any_sync(0x24924924u, x % 4);
  }
  if (lane >= 28) {
    out[lane] = x;
    return;
  }
  // The barrier of the warp stands at two places; the lanes that left are not waited for.
  __shared__ unsigned held[32];
  held[lane] = x;
  if (lane & 1) {
    __syncwarp();
    x += held[lane - 1];
  } else {
    for (unsigned i = 0; i < lane; ++i) x = x * 5 + i;
    __syncwarp();
    x -= held[lane + 1];
  }
  x += __shfl_sync(~0u, x, 5);
  out[lane] = x;
}

// Each lane takes the lock of its warp, then that of the block. counters: per warp, then the block's.
extern "C" __global__ void nested_locks(unsigned *counters) {
  __shared__ unsigned locks[33];
  volatile __shared__ unsigned held[33];
  if (threadIdx.x < 33) locks[threadIdx.x] = held[threadIdx.x] = 0;
  __syncthreads();
  const unsigned warp = threadIdx.x / 32;
  for (int i = 0; i < 2; ++i) {
    bool done = false;
    while (!done) {
      if (atomicExch(&locks[warp], 1) == 0) {
        held[warp] = held[warp] + 1;
        while (atomicCAS(&locks[32], 0, 1) != 0) {
        }
        held[32] = held[32] + 1;
        __threadfence_block();
        atomicExch(&locks[32], 0);
        atomicExch(&locks[warp], 0);
        done = true;
      }
    }
  }
  __syncthreads();
  if (threadIdx.x <= blockDim.x / 32) counters[threadIdx.x] = held[threadIdx.x == blockDim.x / 32 ? 32 : threadIdx.x];
}

// Warps 0 and 1 fill two buffers in turn, warps 2 and 3 empty them: named barriers, arrive and sync.
extern "C" __global__ void named_ring(const unsigned *in, unsigned *out, int rounds) {
  __shared__ unsigned buffer[2][64];
  const int t = threadIdx.x % 64;
  const auto arrive = [](int barrier) { asm volatile("bar.arrive %0, 128;" ::"r"(barrier) : "memory"); };
  const auto sync = [](int barrier) { asm volatile("bar.sync %0, 128;" ::"r"(barrier) : "memory"); };
  if (threadIdx.x < 64) {
    for (int i = 0; i < rounds; ++i) {
      if (i >= 2) sync(3 + i % 2);  // empty
      buffer[i % 2][t] = in[64 * i + t] + 1;
      arrive(1 + i % 2);  // full
    }
  } else {
    for (int i = 0; i < rounds; ++i) {
      sync(1 + i % 2);
      out[64 * i + t] = buffer[i % 2][63 - t];
      if (i + 2 < rounds) arrive(3 + i % 2);
    }
  }
}

// A barrier of the grid that turns over by itself, used `rounds` times: each block adds up what all have written.
extern "C" __global__ void grid_rounds(unsigned *words, volatile unsigned *barrier, unsigned *out, int rounds) {
  unsigned sum = blockIdx.x;
  for (int i = 0; i < rounds; ++i) {
    if (threadIdx.x == 0) words[i % 2 * gridDim.x + blockIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      const unsigned phase = barrier[1];
      if (atomicAdd((unsigned *)barrier, 1) == gridDim.x - 1) {
        barrier[0] = 0;
        __threadfence();
        barrier[1] = phase + 1;
      } else {
        while (barrier[1] == phase) {
        }
      }
      __threadfence();
    }
    __syncthreads();
    for (unsigned b = 0; b < gridDim.x; ++b) sum = sum * 3 + ((volatile unsigned *)words)[i % 2 * gridDim.x + b];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// Deadlocks.

extern "C" __global__ void kept_lock(unsigned *lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
}

extern "C" __global__ void flag_of_nobody(volatile unsigned *flag) {
  if (threadIdx.x == 0) {
    while (flag[blockIdx.x + 1] == 0) {
    }
  }
  __syncthreads();
}

extern "C" __global__ void absent_warp() {
  if (threadIdx.x < 64) asm volatile("bar.sync 3, 96;" ::: "memory");
}

extern "C" __global__ void unmatched_lanes(unsigned *out) {
  if (threadIdx.x < 20) {
    out[threadIdx.x] = __shfl_sync(~0u, threadIdx.x, 0);
  } else {
    __syncwarp();
  }
}

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void mbarrier_of_three() {
  __shared__ __align__(8) unsigned long long pad, barrier;
  const unsigned at = (unsigned)__cvta_generic_to_shared(&barrier);
  if (threadIdx.x == 0) {
    pad = 0;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 3;" ::"r"(at) : "memory");
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], 64; }" ::"r"(at) : "memory");
  }
  __syncthreads();
  unsigned done = 0;
  while (done == 0) {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
  }
}

extern "C" __global__ void absent_from_the_cluster(volatile unsigned *flag) {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (rank == 2 && threadIdx.x >= 32) {
    while (*flag == 0) {
    }
  }
  asm volatile("barrier.cluster.arrive;" ::: "memory");
  asm volatile("barrier.cluster.wait;" ::: "memory");
}
#endif
