// nvcc as a child process.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace onepass::bench {

// The nvcc of CUDA_HOME, of PATH or of the usual place; "" where there is none.
std::string FindNvcc(const std::string& cuda_home);

// Milliseconds that nvcc takes from source to cubin for sm_90, files in `folder`.
absl::StatusOr<double> CompileWithNvcc(const std::string& nvcc, const std::string& source,
                                       const std::string& folder);

}  // namespace onepass::bench
