// The next copy goes into the buffer that other threads still read.
// find: shared race; tile[; read by block; asynchronous write by block
// run: grid=1 block=64
// args: in:x:256:4 out:y:64:4
static __device__ void Fetch(void* to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
static __device__ void Commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
static __device__ void Wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[64];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    Fetch(&tile[threadIdx.x], &x[64 * k + threadIdx.x]);
    Commit();
    Wait<0>();
    __syncthreads();
    sum += tile[63 - threadIdx.x];
  }
  y[threadIdx.x] = sum;
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[64];
  float sum = 0;
  for (int k = 0; k < 4; ++k) {
    Fetch(&tile[threadIdx.x], &x[64 * k + threadIdx.x]);
    Commit();
    Wait<0>();
    __syncthreads();
    sum += tile[63 - threadIdx.x];
    __syncthreads();
  }
  y[threadIdx.x] = sum;
}
