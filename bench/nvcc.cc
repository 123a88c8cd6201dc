#include "bench/nvcc.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "bench/median.h"

namespace onepass::bench {
namespace {

// The exit status of a program whose output nobody wants; -1 where it cannot be started.
int RunQuietly(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

}  // namespace

std::string FindNvcc(const std::string& cuda_home) {
  std::vector<std::string> candidates = {"nvcc", "/usr/local/cuda/bin/nvcc"};
  if (!cuda_home.empty()) candidates.insert(candidates.begin(), cuda_home + "/bin/nvcc");
  for (const std::string& candidate : candidates) {
    if (RunQuietly({candidate, "--version"}) == 0) return candidate;
  }
  return "";
}

absl::StatusOr<double> CompileWithNvcc(const std::string& nvcc, const std::string& source,
                                       const std::string& folder) {
  const std::string input = folder + "/kernel.cu";
  std::ofstream(input) << source;
  const auto start = Clock::now();
  const int status = RunQuietly({nvcc, "-arch=sm_90", "-std=c++17", "-fmad=false", "-cubin", "-o",
                                 folder + "/kernel.cubin", input});
  if (status != 0) return absl::InternalError(absl::StrCat("nvcc: ends with ", status));
  return Nanoseconds(Clock::now() - start) * 1e-6;
}

}  // namespace onepass::bench
