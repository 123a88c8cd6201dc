// A lock that one path forgets to give back.
// find: deadlock; poll
// run: grid=2 block=1
// args: zero:lock:1:4 zero:sum:1:4
template <bool kGiveBack>
__device__ void Add(unsigned* lock, unsigned* sum) {
  while (atomicCAS(lock, 0u, 1u) != 0) {
  }
  __threadfence();
  *static_cast<volatile unsigned*>(sum) += 1;
  __threadfence();
  if (kGiveBack) atomicExch(lock, 0u);
}
extern "C" __global__ void faulty(unsigned* lock, unsigned* sum) { Add<false>(lock, sum); }
extern "C" __global__ void mended(unsigned* lock, unsigned* sum) { Add<true>(lock, sum); }
