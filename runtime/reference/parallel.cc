#include "runtime/reference/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace onepass {

void ParallelFor(int64_t count, absl::FunctionRef<void(int64_t)> body) {
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    for (int64_t i = next++; i < count; i = next++) body(i);
  };
  const int64_t cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (int64_t i = 1; i < std::min(cores, count); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace onepass
