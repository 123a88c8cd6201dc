// What __ldg reads must be constant while the kernel runs, even for the thread that wrote it.
// find: global race; ld.nc of what the launch writes; y[
// run: grid=1 block=32
// args: in:y:32:4 out:z:32:4
extern "C" __global__ void faulty(float* y, float* z) {
  y[threadIdx.x] = 5;
  z[threadIdx.x] = __ldg(y + threadIdx.x);
}
extern "C" __global__ void mended(float* y, float* z) {
  z[threadIdx.x] = __ldg(y + threadIdx.x);
}
