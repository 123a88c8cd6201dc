// nvcc, where the machine has one, run as a user would.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace onepass {

// The exit status of a program, or nothing where it cannot be started.
inline std::optional<int> ExitStatusOf(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, arguments[0], &quiet, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&quiet);
  int status = 0;
  if (failed != 0 || waitpid(child, &status, 0) != child) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// The first one that runs: of `home`, on the path, in the usual place. Empty: none.
inline std::string FindNvcc(const std::string& home) {
  for (const std::string& candidate :
       {home.empty() ? "nvcc" : home + "/bin/nvcc", std::string("nvcc"),
        std::string("/usr/local/cuda/bin/nvcc")}) {
    if (ExitStatusOf({candidate, "--version"}) == 0) return candidate;
  }
  return "";
}

}  // namespace onepass
