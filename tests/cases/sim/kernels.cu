// Kernels of the kinds that Onepass generates, and a few that exercise the machine. Their PTX lies
// beside them, made by: nvcc -arch=sm_XX -ptx --fmad=false kernels.cu -o kernels_sm_XX.ptx
#include <stdint.h>

#define POINTWISE(NAME, T, EXPRESSION)                                                             \
  extern "C" __global__ void NAME(const T* x, T* y, unsigned n) {                                  \
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) { \
      T v = x[i];                                                                                  \
      y[i] = EXPRESSION;                                                                           \
    }                                                                                              \
  }

POINTWISE(gelu, float, 0.5f * v * (1.0f + erff(v * 0.70710678f)))
POINTWISE(softplus, float, v > 20.0f ? v : log1pf(expf(v)))
POINTWISE(tanh_f32, float, tanhf(v))
POINTWISE(pow_f32, float, powf(fabsf(v), 1.7f))
POINTWISE(cos_f32, float, cosf(v * 1e6f))
POINTWISE(gelu_f64, double, 0.5 * v * (1.0 + erf(v * 0.70710678)))
POINTWISE(exp_f64, double, exp(v))
POINTWISE(root_f64, double, sqrt(fabs(v)) + 1.0 / v)

extern "C" __global__ void affine_f16(const uint16_t* x, uint16_t* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v;
  asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(x[i]));
  v = v * 1.5f + 0.25f;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y[i]) : "f"(v));
}

extern "C" __global__ void affine_bf16(const uint16_t* x, uint16_t* y, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v;
  asm("mov.b32 %0, {0, %1};" : "=f"(v) : "h"(x[i]));
  v = v * 1.5f + 0.25f;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y[i]) : "f"(v));
}

struct Numbers {
  float a;
  int b;
  double c;
  uint16_t d;
};
__device__ __noinline__ float Apart(float a, float b) { return a > b ? a * b + 1.0f : a - b; }

// A struct by value, a call, a local array, division of 64-bit indices.
extern "C" __global__ void mixture(const float* x, float* y, unsigned n, Numbers p, long long q) {
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (long long)gridDim.x * blockDim.x) {
    float held[16];
    for (int j = 0; j < 16; ++j) held[(j * p.b) & 15] = x[i] * j;
    float sum = 0;
    for (int j = 0; j < 16; ++j) sum += held[(j * 3 + p.b) & 15] * j;
    y[i] = sum + Apart(x[i], p.a) + Apart(p.a, x[i]) + (float)(i / q) - (float)(i % q) +
           (float)p.c + p.d;
  }
}

// Row batch norm: a row in registers, shuffles, shared memory.
extern "C" __global__ void __launch_bounds__(256)
    row_norm(const float* __restrict__ x, float* __restrict__ y, unsigned n, float eps) {
  __shared__ float partial[8];
  extern __shared__ float total[];
  const float4* row = (const float4*)(x + (size_t)blockIdx.x * n);
  float4* out = (float4*)(y + (size_t)blockIdx.x * n);
  float4 v[2];
  float sum = 0;
  for (int k = 0; k < 2; ++k) {
    unsigned i = threadIdx.x + k * 256;
    v[k] = i * 4 < n ? __ldcs(row + i) : make_float4(0, 0, 0, 0);
    sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  for (int pass = 0;; ++pass) {
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      float all = 0;
      for (int j = 0; j < 8; ++j) all += partial[j];
      total[pass] = all / n;
    }
    __syncthreads();
    if (pass == 1) break;
    float mean = total[0];
    sum = 0;
    for (int k = 0; k < 2; ++k) {
      if ((threadIdx.x + k * 256) * 4 >= n) continue;
      v[k].x -= mean, v[k].y -= mean, v[k].z -= mean, v[k].w -= mean;
      sum += v[k].x * v[k].x + v[k].y * v[k].y + v[k].z * v[k].z + v[k].w * v[k].w;
    }
  }
  float scale = rsqrtf(total[1] + eps);
  for (int k = 0; k < 2; ++k) {
    unsigned i = threadIdx.x + k * 256;
    if (i * 4 < n) {
      out[i] = make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale);
    }
  }
}

// Column means subtracted, partials through global memory and a spinning grid barrier.
extern "C" __global__ void __launch_bounds__(256)
    column_centre(const float* x, float* y, float* part, unsigned* word, unsigned rows,
                  unsigned c) {
  __shared__ float held[8][32];
  unsigned lane = threadIdx.x & 31, w = threadIdx.x >> 5;
  for (unsigned at = lane; at < c; at += 32) {
    float sum = 0;
    for (unsigned r = blockIdx.x * 8 + w; r < rows; r += gridDim.x * 8)
      sum += x[(size_t)r * c + at];
    held[w][lane] = sum;
    __syncthreads();
    if (w == 0) {
      for (int j = 1; j < 8; ++j) sum += held[j][lane];
      part[blockIdx.x * c + at] = sum;
    }
    __syncthreads();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    unsigned target = (atomicAdd(word, 1) / gridDim.x + 1) * gridDim.x;
    while (*(volatile unsigned*)word < target) __nanosleep(20);
    __threadfence();
  }
  __syncthreads();
  for (unsigned at = lane; at < c; at += 32) {
    float sum = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) sum += ((volatile float*)part)[b * c + at];
    for (unsigned r = blockIdx.x * 8 + w; r < rows; r += gridDim.x * 8) {
      y[(size_t)r * c + at] = x[(size_t)r * c + at] - sum / rows;
    }
  }
}
