// Numbers as PTX writes them.
#pragma once

#include <optional>
#include <string_view>

#include "runtime/sim/syntax.h"

namespace onepass::sim {

// "12", "0x1fU", "0b1", "017", "0f3F800000", "0d3FF0000000000000", "1.5e3"; nothing otherwise.
std::optional<Literal> ParseLiteral(std::string_view text);
Literal Negated(Literal literal);

}  // namespace onepass::sim
