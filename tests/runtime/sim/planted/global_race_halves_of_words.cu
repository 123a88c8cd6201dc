// Threads of different blocks write halves of two words; one of them the same half.
// find: global race; y[; by block (0,0,0); by block (1,0,0)
// run: grid=2 block=32
// args: out:y:128:2
extern "C" __global__ void faulty(unsigned short* y) {
  unsigned i = blockIdx.x * 31 + threadIdx.x;
  y[i] = static_cast<unsigned short>(i + blockIdx.x);
}
extern "C" __global__ void mended(unsigned short* y) {
  unsigned i = 2 * threadIdx.x + blockIdx.x;
  y[i] = static_cast<unsigned short>(i + blockIdx.x);
}
