#include "runtime/sim/workers.h"

#include <algorithm>

namespace onepass::sim {

Workers::Workers(int threads) {
  if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  for (int i = 1; i < std::max(threads, 1); ++i) {
    pool_.emplace_back([this, i] { Loop(i); });
  }
}

Workers::~Workers() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : pool_) thread.join();
}

void Workers::Take(int thread) {
  for (int i = next_++; i < count_; i = next_++) (*task_)(i, thread);
}

void Workers::Loop(int thread) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    work_.wait(lock, [&] { return stop_ || round_ != seen; });
    if (stop_) return;
    seen = round_;
    lock.unlock();
    Take(thread);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

void Workers::Run(int count, const std::function<void(int, int)>& task) {
  if (pool_.empty() || count <= 1) {
    for (int i = 0; i < count; ++i) task(i, 0);
    return;
  }
  {
    std::lock_guard lock(mutex_);
    task_ = &task;
    count_ = count;
    next_ = 0;
    busy_ = static_cast<int>(pool_.size());
    ++round_;
  }
  work_.notify_all();
  Take(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return busy_ == 0; });
}

}  // namespace onepass::sim
