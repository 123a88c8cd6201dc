#pragma once

#include <grp.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace onepass::cache {

// Starts `body` in a child process whose exit status is what it returns. To be called only while
// this process has a single thread.
inline pid_t StartChild(const std::function<int()>& body) {
  pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

// The exit status of a child, or -1 where a signal ended it.
inline int WaitForChild(pid_t child) {
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

inline constexpr uid_t kOrdinaryUser = 65534;

// Runs `body` in a child that permissions bind: root's child becomes another user first.
inline int RunAsOrdinaryUser(const std::function<int()>& body) {
  return WaitForChild(StartChild([&] {
    if (geteuid() == 0 &&
        (setgroups(0, nullptr) != 0 || setgid(kOrdinaryUser) != 0 || setuid(kOrdinaryUser) != 0)) {
      return 99;
    }
    return body();
  }));
}

}  // namespace onepass::cache
