// Where NVRTC may be.
#pragma once

#include <string>
#include <vector>

#include "runtime/toolkit_paths.h"

namespace onepass {

// The libraries to try, best first: CUDA_HOME; NVIDIA's wheels in the toolkit folder; what the
// loader finds by itself; the usual places. Paths are of files that exist, the rest are names for
// the loader.
std::vector<std::string> NvrtcCandidates(const ToolkitPaths& paths);

}  // namespace onepass
