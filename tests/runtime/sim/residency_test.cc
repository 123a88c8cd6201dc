// How much of the host's memory the blocks of a full chip take.
#include "codegen/emit.h"
#include "codegen/strategy.h"
#include "runtime/nvrtc.h"
#include "runtime/options.h"
#include "runtime/sim/module.h"
#include "runtime/sim/program.h"
#include "tests/runtime/sim/run_ptx.h"

namespace onepass::sim {
namespace {

// Our own persistent kernel with 1,024 threads and nearly all shared memory of an SM, on each of
// 132 SMs: registers after liveness, as every block holds them while the others wait at a barrier.
TEST(ResidencyTest, AChipOfWidePersistentBlocksFitsInTwoGigabytes) {
  const Key key = KeyOf(*ParseProblem("batch_norm.train f32 462x64x16x16:nhwc"), 16);
  const Plan plan = {.strategy = FindStrategy("persistent_grid", key.geometry)->name,
                     .threads = 1024,
                     .vector = 4,
                     .register_vectors = 6,
                     .shared_vectors = 8,
                     .write_vectors = 2,
                     .tile_vectors = 4,
                     .split = 33};
  const Source source = EmitSource(key, plan);
  const auto nvrtc = Nvrtc::Load(OptionsFromEnvironment().toolkit);
  ASSERT_TRUE(nvrtc.ok()) << nvrtc.status();
  const auto binary = (*nvrtc)->Compile(source, "compute_90");
  ASSERT_TRUE(binary.ok()) << binary.status();
  const auto module = Parsed(binary->ptx);
  ASSERT_NE(module, nullptr);
  const Kernel& kernel = module->program().kernels[0];
  const int64_t registers = kernel.register_bytes * (plan.threads / 32);
  const int64_t shared =
      kernel.static_shared_bytes + int64_t{plan.shared_vectors} * plan.threads * 16;
  const int64_t block = registers + shared + kernel.local_bytes * plan.threads;
  EXPECT_LE(132 * block, int64_t{2'000'000'000});
  // A GPU gives each thread 64 words, for which ptxas moves instructions and computes values anew.
  // As they stand, with places for 64-bit values apart, a good double of it was live (159 words).
  EXPECT_LE(registers, int64_t{180 * 4} * plan.threads);
}

}  // namespace
}  // namespace onepass::sim
