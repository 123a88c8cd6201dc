// The block exits while a bulk copy may still read its shared memory.
// find: shared race; may exit before the asynchronous read of its shared memory by block
// run: grid=2 block=32
// args: in:x:64:4 out:y:64:4
static __device__ void StoreBulk(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               ::"l"(to), "r"((unsigned)__cvta_generic_to_shared(from)), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
static __device__ void WaitReads() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
static __device__ void Proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  tile[threadIdx.x] = x[32 * blockIdx.x + threadIdx.x];
  Proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    StoreBulk(y + 32 * blockIdx.x, tile, 128);
  }
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ __align__(16) float tile[32];
  tile[threadIdx.x] = x[32 * blockIdx.x + threadIdx.x];
  Proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    StoreBulk(y + 32 * blockIdx.x, tile, 128);
    WaitReads();
  }
}
