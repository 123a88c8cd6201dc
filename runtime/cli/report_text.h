// A RunReport for people.
#pragma once

#include <string>

#include "runtime/run_report.h"

namespace onepass::cli {

// A block of a few lines.
std::string ToText(const RunReport& report);

// One line without its end, with the same columns for every case.
std::string ToTextLine(const RunReport& report);

// "51.4 MB"
std::string BytesText(int64_t bytes);

}  // namespace onepass::cli
