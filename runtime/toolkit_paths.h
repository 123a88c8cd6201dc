// Where to look for NVIDIA's toolkit.
#pragma once

#include <string>

namespace onepass {

struct ToolkitPaths {
  std::string cuda_home;       // CUDA_HOME, may be empty
  std::string toolkit_folder;  // holds NVIDIA's wheels (a checkout's .toolkit), may be empty
};

}  // namespace onepass
