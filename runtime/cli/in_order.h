// InOrder: work on several threads, results in order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/mutex.h"

namespace onepass::cli {

// Calls work(i) for i in [0, count) on `jobs` threads, and take(i, result) for one i after the
// other in ascending order, as soon as the results before it are taken. `work` must not throw;
// `take` is never called by two threads at once. Where the system has no more threads to give,
// those that there are do all the work.
template <typename Result, typename Work, typename Take>
void InOrder(size_t count, size_t jobs, Work work, Take take) {
  std::vector<std::optional<Result>> results(count);
  std::atomic<size_t> next = 0;
  absl::Mutex mutex;
  size_t taken = 0;
  const auto loop = [&] {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      Result result = work(i);
      absl::MutexLock lock(&mutex);
      results[i] = std::move(result);
      for (; taken < count && results[taken].has_value(); ++taken) {
        take(taken, *results[taken]);
        results[taken].emplace();  // its memory is not needed any more
      }
    }
  };
  std::vector<std::thread> threads;
  try {
    for (size_t i = 1; i < std::min(jobs, count); ++i) threads.emplace_back(loop);
  } catch (const std::exception&) {
  }
  loop();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace onepass::cli
