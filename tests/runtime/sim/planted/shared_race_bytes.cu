// Threads write two bytes each at a distance of one.
// find: shared race; bytes[
// run: grid=1 block=32
// args: out:y:64:1
extern "C" __global__ void faulty(unsigned char* y) {
  __shared__ unsigned char bytes[64];
  bytes[threadIdx.x] = 1;
  bytes[threadIdx.x + 1] = 2;
  __syncthreads();
  y[threadIdx.x] = bytes[threadIdx.x];
}
extern "C" __global__ void mended(unsigned char* y) {
  __shared__ unsigned char bytes[64];
  bytes[2 * threadIdx.x] = 1;
  bytes[2 * threadIdx.x + 1] = 2;
  __syncthreads();
  y[threadIdx.x] = bytes[threadIdx.x];
}
