// Runs the built `onepass` as a user does.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/runtime/temporary_folder.h"

namespace onepass::cli {

struct ProgramRun {
  int exit_code = -1;  // -1: ended by a signal
  std::string out;
  std::string err;
};

inline std::string ReadText(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// `words` is what a shell reads after the program's name; `variables` stand before it. Standard
// input is empty.
inline ProgramRun RunOnepass(const std::string& words, const std::string& variables = "") {
  const TemporaryFolder folder;
  const std::string command = "( ONEPASS_CACHE_DIR=" ONEPASS_BINARY_DIR "/test-cache " + variables +
                              " " ONEPASS_BINARY_DIR "/onepass " + words + " ) >" +
                              (folder / "out") + " 2>" + (folder / "err") + " </dev/null";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, ReadText(folder / "out"),
          ReadText(folder / "err")};
}

}  // namespace onepass::cli
