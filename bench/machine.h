// The machine that a benchmark runs on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace onepass::bench {

// "AMD EPYC, 2 cores, load 1.30": the processor, as far as the system says, and what else ran in
// the last minute.
std::string DescribeMachine();

// The most memory that this process has had resident since the last call of StartPeak, in bytes;
// nothing where the system does not say.
void StartPeak();
std::optional<int64_t> PeakBytes();
// What is resident now.
std::optional<int64_t> ResidentBytes();

}  // namespace onepass::bench
