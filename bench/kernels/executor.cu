// What the simulated GPU's speed is measured with: mixes of arithmetic on values that stay in
// range, and copies that are nearly all loads and stores.

extern "C" __global__ void float_mix(float* out, const float* in, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float a = in[i], b = a + 1, c = a + 2, d = a + 3;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      a = fmaf(a, 0.25f, b);
      b = b * 0.5f;
      c = c + d;
      d = fmaf(c, -0.5f, a);
      b = fmaxf(b, d);
      c = c * 0.125f;
    }
  }
  out[i] = a + b + c + d;
}

extern "C" __global__ void integer_mix(unsigned* out, const unsigned* in, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned a = in[i] + i, b = a ^ 0x9e3779b9u, c = a + 7;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      a = a * 1664525u + c;
      b ^= a >> 13;
      c += b & a;
      b = b << 5 | c;
      c = min(c, a);
      a = a - b;
    }
  }
  out[i] = a + b + c;
}

// Without cuda_fp16.h, which would have to be found first.
__device__ unsigned Fma(unsigned a, unsigned b, unsigned c) {
  asm("fma.rn.f16x2 %0, %0, %1, %2;" : "+r"(a) : "r"(b), "r"(c));
  return a;
}
__device__ unsigned Mul(unsigned a, unsigned b) {
  asm("mul.rn.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
  return a;
}
__device__ unsigned Add(unsigned a, unsigned b) {
  asm("add.rn.f16x2 %0, %0, %1;" : "+r"(a) : "r"(b));
  return a;
}

extern "C" __global__ void half_mix(unsigned* out, const unsigned* in, int rounds) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned quarter = 0x34003400;
  unsigned a = in[i], b = Add(a, quarter), c = Add(b, quarter);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < 8; ++step) {
      a = Fma(a, quarter, b);
      b = Mul(b, quarter);
      c = Add(c, a);
      b = Fma(c, quarter, b);
      c = Mul(c, quarter);
    }
  }
  out[i] = Add(a, Add(b, c));
}

// `turns` times over; a block of 256 threads copies 16 rows of a value a thread at a time.
template <class T>
__device__ void Copy(T* to, const T* from, int count, int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    for (int i = blockIdx.x * 4096 + threadIdx.x; i < count; i += gridDim.x * 4096) {
      T values[16];
#pragma unroll
      for (int k = 0; k < 16; ++k) values[k] = from[i + k * 256];
#pragma unroll
      for (int k = 0; k < 16; ++k) to[i + k * 256] = values[k];
    }
  }
}

extern "C" __global__ void copy_words(float* to, const float* from, int count, int turns) {
  Copy(to, from, count, turns);
}

extern "C" __global__ void copy_vectors(float4* to, const float4* from, int count, int turns) {
  Copy(to, from, count, turns);
}
