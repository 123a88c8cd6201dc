// Splits PTX text into tokens.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace onepass::sim {

struct Token {
  enum class Kind {
    kWord,         // identifier, register, directive or opcode: "%r1", ".reg", "ld.global.f32"
    kNumber,       // any literal that starts with a digit
    kString,       // without its quotes
    kPunctuation,  // one character
    kEnd,
  };
  Kind kind = Kind::kEnd;
  std::string_view text;  // into the source
  int line = 0;           // from 1

  bool Is(std::string_view expected) const { return kind != Kind::kString && text == expected; }
};

// The tokens of `source`, ending with one kEnd. Comments and white space are dropped; `source` must
// outlive the tokens. kInvalidArgument for a character or comment that PTX does not have.
absl::StatusOr<std::vector<Token>> Lex(std::string_view source);

}  // namespace onepass::sim
