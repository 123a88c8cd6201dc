// Half of a warp goes past the barrier, works on and exits; who returns early may.
// find: barrier divergence; divergent barrier: lanes 0000ffff; thread (16,0,0)
// run: grid=1 block=32
// args: out:y:32:4
extern "C" __global__ void faulty(int* y) {
  if (threadIdx.x < 16) __syncthreads();
  y[threadIdx.x] = 1;
}
extern "C" __global__ void mended(int* y) {
  if (threadIdx.x >= 16) return;
  __syncthreads();
  y[threadIdx.x] = 1;
}
