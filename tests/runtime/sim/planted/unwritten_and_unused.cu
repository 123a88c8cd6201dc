// Whole vectors are read of a tile that is written in part; one of the values gets used that is not
// there. (Mended: the same reads, but only what is there counts.)
// find: uninitialised read; tile[30]; what is stored depends on it; thread (7,0,0)
// run: grid=1 block=8
// args: in:x:30:4 out:y:30:4
struct alignas(16) Four {
  float v[4];
};
template <unsigned kUsed>
__device__ void Copy(const float* x, float* y) {
  __shared__ Four tile[8];
  float* elements = &tile[0].v[0];
  for (unsigned i = threadIdx.x; i < 30; i += 8) elements[i] = x[i];
  __syncthreads();
  Four mine = tile[threadIdx.x];
  float sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    float doubled = 2 * mine.v[i];
    sum += 4 * threadIdx.x + i < kUsed ? doubled : 0.0f;
  }
  y[threadIdx.x] = sum;
}
extern "C" __global__ void faulty(const float* x, float* y) { Copy<31>(x, y); }
extern "C" __global__ void mended(const float* x, float* y) { Copy<30>(x, y); }
