// Runs many inputs in processes of their own, so that one that crashes or hangs does not end them
// all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace onepass::sim {

struct FuzzRounds {
  uint64_t seed = 1;
  uint64_t first = 0;           // the number of the first input
  uint64_t runs = UINT64_MAX;   // how many at most
  int64_t seconds = INT64_MAX;  // after which no further one begins
  std::string found;            // folder for inputs that did not end well
};

// Runs MutatedInput(corpus, seed, number) one after the other and prints what became of them. An
// input that crashes, takes kMostCpuSeconds or lets the process grow beyond kMostBytes is written
// to `found` and named. Returns how many did.
int RunRounds(const FuzzRounds& rounds, const std::vector<std::string>& corpus);

// Of one input, under the sanitizers too.
inline constexpr double kMostCpuSeconds = 2;
inline constexpr int64_t kMostBytes = int64_t{2} << 30;

}  // namespace onepass::sim
