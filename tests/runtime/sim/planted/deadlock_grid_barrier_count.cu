// A grid barrier counts one block more than there are.
// find: deadlock; resident blocks poll
// run: grid=3 block=32 cooperative
// args: zero:word:1:4
template <int kMore>
__device__ void Meet(unsigned* word) {
  if (threadIdx.x != 0) return;
  __threadfence();
  atomicAdd(word, 1u);
  while (*static_cast<volatile unsigned*>(word) < gridDim.x + kMore) {
  }
}
extern "C" __global__ void faulty(unsigned* word) { Meet<1>(word); }
extern "C" __global__ void mended(unsigned* word) { Meet<0>(word); }
