// What can read models in this build.
#pragma once

#include <string>

namespace onepass::cli {

// "IR version 8, protobuf 3.21.12"; "" in a build without a reader.
std::string OnnxVersion();

}  // namespace onepass::cli
