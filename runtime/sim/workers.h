// The host threads of a simulated GPU.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace onepass::sim {

class Workers {
 public:
  // `threads` in all, the caller's own included; 0: one for each core.
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Calls task(i, thread) for every i in [0, count), on all threads, and returns when all are done.
  // `thread` is below threads(). One call at a time.
  void Run(int count, const std::function<void(int i, int thread)>& task);
  int threads() const { return static_cast<int>(pool_.size()) + 1; }

 private:
  void Loop(int thread);
  void Take(int thread);

  std::vector<std::thread> pool_;
  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  uint64_t round_ = 0;  // of Run; guarded by mutex_, as are the next three
  int busy_ = 0;
  bool stop_ = false;
  const std::function<void(int, int)>* task_ = nullptr;
  int count_ = 0;
  std::atomic<int> next_{0};
};

}  // namespace onepass::sim
