// The halo of a tile is never loaded.
// find: uninitialised read; shared memory; tile[33]; thread (31,0,0)
// run: grid=1 block=32
// args: in:x:34:4 out:y:32:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float tile[34];
  unsigned t = threadIdx.x;
  tile[t + 1] = x[t + 1];
  if (t == 0) tile[0] = x[0];
  __syncthreads();
  y[t] = tile[t] + tile[t + 1] + tile[t + 2];
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float tile[34];
  unsigned t = threadIdx.x;
  tile[t + 1] = x[t + 1];
  if (t == 0) tile[0] = x[0];
  if (t == 31) tile[33] = x[33];
  __syncthreads();
  y[t] = tile[t] + tile[t + 1] + tile[t + 2];
}
