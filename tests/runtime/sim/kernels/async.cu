// cp.async in every form, and a sum over rows whose loads run two stages ahead.
extern "C" __global__ void copy_async(const float *in, float *out) {
  __shared__ __align__(16) float held[4][128];
  const unsigned t = threadIdx.x;  // 32
  const unsigned at = (unsigned)__cvta_generic_to_shared(&held[0][4 * t]);
  const float *from = in + 4 * t;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at + 512), "l"(from + 128) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(at + 1024), "l"(from + 256), "r"(4 * (t % 5)) : "memory");
  asm volatile("cp.async.wait_group 1;" ::: "memory");
  __syncwarp();
  out[t] = held[0][(t * 5) % 128];
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncwarp();
  for (int i = 0; i < 4; ++i) out[32 + 4 * t + i] = held[1][4 * t + i];
  for (int i = 0; i < 4; ++i) out[160 + 4 * t + i] = held[2][4 * t + i];
}

// Column sums of a matrix of 128 columns: while a tile of 8 rows is added, the next two are on their way.
extern "C" __global__ void pipelined_sum(const float *in, float *out, int rows) {
  __shared__ __align__(16) float tiles[3][8][128];
  const unsigned t = threadIdx.x;  // 128
  const int count = (rows + 7) / 8;
  const auto fetch = [&](int tile) {
    for (int k = 0; k < 2; ++k) {
      const int row = 8 * tile + 4 * k + t / 32, column = t % 32 * 4;
      const unsigned at = (unsigned)__cvta_generic_to_shared(&tiles[tile % 3][4 * k + t / 32][column]);
      const int bytes = row < rows ? 16 : 0;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(in + (row < rows ? row : 0) * 128 + column), "r"(bytes) : "memory");
    }
  };
  for (int s = 0; s < 2; ++s) {
    if (s < count) fetch(s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  float sum = 0;
  for (int tile = 0; tile < count; ++tile) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    if (tile + 2 < count) fetch(tile + 2);
    asm volatile("cp.async.commit_group;" ::: "memory");
    for (int r = 0; r < 8; ++r) sum += tiles[tile % 3][r][t];
  }
  out[t] = sum;
}
