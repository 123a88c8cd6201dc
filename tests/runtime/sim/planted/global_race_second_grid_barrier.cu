// Partial sums are used again in the next round with one grid barrier a round; a fast block
// overwrites what a slow one still reads.
// find: global race; partials[; read by block; write by block
// run: grid=4 block=32 cooperative
// args: zero:words:1:4 zero:partials:8:4 out:y:4:4
__device__ void GridBarrier(unsigned* word, unsigned round) {
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned seen;
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(word) : "memory");
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
    } while (seen < round * gridDim.x);
  }
  __syncthreads();
}
template <int kBuffers>
__device__ void Rounds(unsigned* words, float* partials, float* y) {
  float sum = 0;
  for (unsigned round = 1; round <= 3; ++round) {
    float* mine = partials + 4 * (round % kBuffers);
    if (threadIdx.x == 0) mine[blockIdx.x] = blockIdx.x + round;
    GridBarrier(words, round);
    sum += mine[0] + mine[1] + mine[2] + mine[3];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
extern "C" __global__ void faulty(unsigned* words, float* partials, float* y) {
  Rounds<1>(words, partials, y);
}
extern "C" __global__ void mended(unsigned* words, float* partials, float* y) {
  Rounds<2>(words, partials, y);
}
