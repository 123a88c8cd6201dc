// Whole files as text.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace onepass {

// kInvalidArgument names the path and says why it cannot be read. Pipes are read to their end.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

}  // namespace onepass
