// What the fuzzer runs: bytes are parsed as PTX, and kernels that are found are launched.
//
// Any absl::Status that the headers of runtime/sim name is a good end; a crash, a sanitizer's
// report, a status they do not name or a message of several lines ends the process.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace onepass::sim {

// How one input ended.
struct FuzzEnd {
  absl::Status parsed;
  int launches = 0;  // that were tried
  int finished = 0;  // that ended well
};

// Grid, block, arguments, device and options follow from the number behind "//launch " at the
// start of `ptx`, where there is none from the text: the same text always does the same.
FuzzEnd RunFuzzInput(std::string_view ptx);

}  // namespace onepass::sim

// The same for libFuzzer and drivers like it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
