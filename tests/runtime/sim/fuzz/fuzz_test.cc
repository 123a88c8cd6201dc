// A short run of the fuzzer with a fixed seed; ./dev fuzz runs it for as long as one likes.
#include <gtest/gtest.h>

#include "tests/runtime/sim/fuzz/fuzz_corpus.h"
#include "tests/runtime/sim/fuzz/fuzz_target.h"
#include "tests/runtime/sim/fuzz/mutate.h"

namespace onepass::sim {
namespace {

TEST(FuzzTest, TenThousandMutatedKernelsEndInAStatusOfTheContract) {
  const std::vector<std::string> corpus = KeptCorpus();
  int parsed = 0;
  int finished = 0;
  for (uint64_t number = 0; number < 10000; ++number) {
    const FuzzEnd end = RunFuzzInput(MutatedInput(corpus, /*seed=*/1, number));
    parsed += end.parsed.ok();
    finished += end.finished > 0;
  }
  // Mutations that break everything would test the lexer alone.
  EXPECT_GT(parsed, 1000);
  EXPECT_GT(finished, 300);
}

TEST(FuzzTest, TheCorpusIsGood) {
  for (const std::string& ptx : KeptCorpus()) {
    const absl::Status parsed = RunFuzzInput(ptx).parsed;
    EXPECT_TRUE(parsed.ok() || absl::IsUnimplemented(parsed)) << parsed << "\n" << ptx;
  }
}

}  // namespace
}  // namespace onepass::sim
