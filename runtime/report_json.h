// CONTRACT's "JSON of run and batch".
#pragma once

#include <string>

#include "runtime/run_report.h"

namespace onepass {

// One line without its end. Every key is there, null where unknown; numbers round-trip in their
// shortest form; what is not finite is null. Bytes that are not UTF-8 are replaced.
std::string ToJson(const RunReport& report);

}  // namespace onepass
