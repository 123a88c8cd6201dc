// All lanes write their own value into one word: which stays is not defined.
// find: shared race; one instruction writes different values; winner
// run: grid=1 block=32
// args: in:x:32:4 out:y:32:4
extern "C" __global__ void faulty(const float* x, float* y) {
  __shared__ float winner;
  winner = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = winner;
}
extern "C" __global__ void mended(const float* x, float* y) {
  __shared__ float winner;
  winner = x[0];  // the same value from every lane
  __syncthreads();
  y[threadIdx.x] = winner;
}
