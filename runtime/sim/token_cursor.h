// Walks over tokens. The first error is kept and the cursor moves to the end, so every loop ends.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "runtime/sim/lexer.h"
#include "runtime/sim/literal.h"

namespace onepass::sim {

class TokenCursor {
 protected:
  // `tokens` end with one kEnd.
  explicit TokenCursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& Now() const { return tokens_[at_]; }
  const Token& Ahead() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  const Token& Behind() const { return tokens_[at_ - 1]; }  // not at the start
  bool AtEnd() const { return Now().kind == Token::Kind::kEnd; }
  bool Sees(std::string_view text) const { return Now().Is(text); }
  std::string_view Next() {
    const std::string_view text = Now().text;
    if (!AtEnd()) ++at_;
    return text;
  }
  bool Accept(std::string_view text) {
    if (!Sees(text)) return false;
    Next();
    return true;
  }
  void Expect(std::string_view text) {
    if (!Accept(text)) Fail(absl::StrFormat("expected '%s' before '%s'", text, Now().text));
  }
  void Fail(std::string_view what) {
    if (error_.ok()) {
      error_ = absl::InvalidArgumentError(absl::StrFormat("PTX line %d: %s", Now().line, what));
    }
    at_ = tokens_.size() - 1;
  }
  void SkipTo(std::string_view text) {
    while (!AtEnd() && !Accept(text)) Next();
  }
  void SkipLine() {
    for (const int line = Now().line; !AtEnd() && Now().line == line;) Next();
  }

  std::string_view Word() {
    if (Now().kind != Token::Kind::kWord) {
      Fail(absl::StrFormat("expected a name before '%s'", Now().text));
    }
    return Next();
  }

  Literal Number() {
    const bool negative = Accept("-");
    const auto literal = ParseLiteral(Now().text);
    if (!literal || Now().kind != Token::Kind::kNumber) {
      Fail(absl::StrFormat("expected a number before '%s'", Now().text));
      return {};
    }
    Next();
    return negative ? Negated(*literal) : *literal;
  }
  int64_t Integer() { return static_cast<int64_t>(Number().bits); }

  absl::Status error_;

 private:
  std::vector<Token> tokens_;
  size_t at_ = 0;
};

}  // namespace onepass::sim
