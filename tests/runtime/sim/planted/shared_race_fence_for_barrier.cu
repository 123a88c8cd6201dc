// A fence orders one thread's own accesses; it waits for nobody.
// find: shared race; tile[; write by; read by
// run: grid=1 block=64
// args: in:x:64:4 out:y:64:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __threadfence_block();
  y[threadIdx.x] = tile[(threadIdx.x + 32) % 64];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = tile[(threadIdx.x + 32) % 64];
}
