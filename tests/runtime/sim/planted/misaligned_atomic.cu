// A 64-bit counter behind a 32-bit one.
// find: misaligned; 8 bytes; counters[1]
// run: grid=1 block=32
// args: zero:counters:4:4
extern "C" __global__ void faulty(unsigned* counters) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counters + 1), 1ull);
}
extern "C" __global__ void mended(unsigned* counters) {
  atomicAdd(reinterpret_cast<unsigned long long*>(counters + 2), 1ull);
}
