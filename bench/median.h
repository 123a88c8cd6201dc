// Medians of times. What is compared is measured in turns, so that a machine that is slow for a
// while is slow for all of it.
#pragma once

#include <time.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace onepass::bench {

using Clock = std::chrono::steady_clock;

inline double Nanoseconds(Clock::duration time) {
  return std::chrono::duration<double, std::nano>(time).count();
}

inline double MedianOf(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One thing to measure: does its work `calls` times.
using Work = std::function<void(int calls)>;

// What a clock on the wall shows, and what this thread has had of a processor: the same on an idle
// machine. The second is for work of one thread, on machines that others use too.
inline double WallNanoseconds() { return Nanoseconds(Clock::now().time_since_epoch()); }
inline double ThreadNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Nanoseconds of one call of each, the median of `rounds` turns of `calls` calls.
inline std::vector<double> MedianNanoseconds(llvm::ArrayRef<Work> works, int rounds, int calls,
                                             double (*clock)() = WallNanoseconds) {
  std::vector<std::vector<double>> times(works.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < works.size(); ++i) {
      const double start = clock();
      works[i](calls);
      times[i].push_back((clock() - start) / calls);
    }
  }
  std::vector<double> medians;
  medians.reserve(times.size());
  for (const std::vector<double>& of_one : times) medians.push_back(MedianOf(of_one));
  return medians;
}

}  // namespace onepass::bench
