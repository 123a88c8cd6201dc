// Two lanes of one instruction scatter to the same element.
// find: global race; one instruction writes different values; y[0]
// run: grid=1 block=32
// args: in:x:32:4 out:y:32:4
extern "C" __global__ void faulty(const float* x, float* y) { y[threadIdx.x / 2] = x[threadIdx.x]; }
extern "C" __global__ void mended(const float* x, float* y) { y[threadIdx.x ^ 1] = x[threadIdx.x]; }
