// Numbers as text, the same in every locale.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace onepass {

// The whole of `text` as a decimal number; "inf" and "nan" count. Nothing where it is not one or
// does not fit a double.
std::optional<double> ParseNumber(absl::string_view text);
// As ParseNumber; also a quotient of two numbers, "1/6".
std::optional<double> ParseQuotient(absl::string_view text);
// The whole of `text` as a decimal integer that fits 64 bits.
std::optional<int64_t> ParseInteger(absl::string_view text);

// The shortest text that ParseNumber reads back to the same value: "0.001", "1e-5", "1e20".
std::string PrintNumber(double value);

}  // namespace onepass
