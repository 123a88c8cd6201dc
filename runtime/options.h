// The environment, read in one place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/toolkit_paths.h"

namespace onepass {

struct Options {
  std::string cache_dir;                   // ONEPASS_CACHE_DIR, else XDG_CACHE_HOME/onepass, else
                                           // HOME/.cache/onepass; "" none
  int64_t cache_limit = int64_t{1} << 30;  // ONEPASS_CACHE_LIMIT, bytes
  std::string device = "auto";             // ONEPASS_DEVICE
  std::string log = "warning";             // ONEPASS_LOG
  ToolkitPaths toolkit;                    // CUDA_HOME and the checkout's own toolkit folder
  // Variables whose values make no sense and are ignored: one line each that names both. An unknown
  // device is not among them; whoever opens it says so.
  std::vector<std::string> warnings;
};

// An empty variable counts as unset.
Options OptionsFromEnvironment();

}  // namespace onepass
