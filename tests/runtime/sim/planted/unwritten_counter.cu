// A counter in the workspace is counted up before anybody has set it to zero.
// find: uninitialised read; workspace[0]
// run: grid=2 block=32
// args: out:workspace:1:4
extern "C" __global__ void faulty(unsigned* workspace) { atomicAdd(workspace, 1u); }
extern "C" __global__ void mended(unsigned* workspace) {
  if (blockIdx.x == 0 && threadIdx.x == 0) *workspace = 64;
}
