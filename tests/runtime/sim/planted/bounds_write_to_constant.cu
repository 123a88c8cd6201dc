// A kernel writes into constant memory through a pointer that forgot it.
// find: out of bounds; write of 4 bytes; constant table[
// run: grid=1 block=4
// args: out:y:4:4
__constant__ float table[4] = {1, 2, 3, 4};
extern "C" __global__ void faulty(float* y) {
  float* writable = const_cast<float*>(table);
  asm volatile("st.global.f32 [%0], %1;" ::"l"(writable + threadIdx.x), "f"(1.0f) : "memory");
  y[threadIdx.x] = table[threadIdx.x];
}
extern "C" __global__ void mended(float* y) { y[threadIdx.x] = table[threadIdx.x] + 1.0f; }
