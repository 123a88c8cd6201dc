// A kernel of bench/kernels/executor.cu on a simulated H200 of its own, ready to run again and
// again, and the null loop that stands beside it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "bench/subjects.h"
#include "runtime/sim/gpu.h"

namespace onepass::bench {

// What one Run is: its kernel, how much of it, and how the simulated GPU is set.
struct ExecutorCase {
  std::string name;
  std::string kernel;
  int64_t bytes = 0;   // of the kernel's input, and of its output
  int32_t repeat = 1;  // the kernel's last argument
  double least = 0;    // million warp instructions a second to be reached; 0: nothing stated
  int host_threads = 1;
  bool sanitize = false;
};

// The module of bench/kernels/executor.cu.
absl::StatusOr<std::shared_ptr<const sim::Module>> CompileExecutorKernels(const Bench& bench);

class ExecutorRun {
 public:
  // Runs the kernel once, so that what is allocated at first use is there.
  static absl::StatusOr<std::unique_ptr<ExecutorRun>> Start(
      std::shared_ptr<const sim::Module> module, const ExecutorCase& of);

  // One launch, its counters taken; it cannot fail where Start did not.
  void Run();
  int64_t warp_instructions() const { return warp_instructions_; }

 private:
  ExecutorRun(std::shared_ptr<const sim::Module> module, const ExecutorCase& of);
  absl::Status Launch();

  std::shared_ptr<const sim::Module> module_;
  sim::Gpu gpu_;
  sim::LaunchShape shape_;
  std::vector<uint8_t> arguments_;
  int64_t warp_instructions_ = 0;
};

// The machine's speed at this moment: so many calls through pointers that nothing predicts away, of
// functions that do nothing, each waiting for the one before.
void RunNullLoop(int64_t steps);

}  // namespace onepass::bench
