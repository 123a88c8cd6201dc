// The flag is a plain variable.
// find: global race; flag[0]; write by block (0,0,0); read by block (1,0,0)
// run: grid=2 block=32
// args: zero:flag:1:4 out:y:2:4
extern "C" __global__ void faulty(unsigned* flag, unsigned* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) *flag = 1;
  if (blockIdx.x == 1) y[1] = *flag;
}
extern "C" __global__ void mended(unsigned* flag, unsigned* y) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) *static_cast<volatile unsigned*>(flag) = 1;
  if (blockIdx.x == 1) y[1] = *static_cast<volatile unsigned*>(flag);
}
