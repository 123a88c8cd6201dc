#include "runtime/sim/lexer.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace onepass::sim {
namespace {

bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_' || c == '$' || c == '%'; }
bool IsWordPart(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '%'; }

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  absl::StatusOr<std::vector<Token>> Run() {
    tokens_.reserve(source_.size() / 4);
    while (true) {
      if (!SkipBlank()) return Error("comment without an end");
      if (at_ >= source_.size()) break;
      const char c = source_[at_];
      if (IsWordStart(c) || (c == '.' && IsWordStart(Peek(1)))) {
        Add(Token::Kind::kWord, WordEnd());
      } else if (absl::ascii_isdigit(c)) {
        Add(Token::Kind::kNumber, NumberEnd());
      } else if (c == '"') {
        const size_t end = source_.find_first_of("\"\n", at_ + 1);
        if (end == std::string_view::npos || source_[end] != '"') {
          return Error("string without an end");
        }
        ++at_;
        Add(Token::Kind::kString, end);
        ++at_;
      } else if (std::string_view("@!()[]{},;:+-|=<>~*/&?^.").find(c) != std::string_view::npos) {
        Add(Token::Kind::kPunctuation, at_ + 1);
      } else {
        return Error(absl::StrFormat("unexpected character 0x%02x", static_cast<uint8_t>(c)));
      }
    }
    tokens_.push_back({Token::Kind::kEnd, {}, line_});
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void Add(Token::Kind kind, size_t end) {
    tokens_.push_back({kind, source_.substr(at_, end - at_), line_});
    at_ = end;
  }

  bool SkipBlank() {
    for (; at_ < source_.size(); ++at_) {
      const char c = source_[at_];
      if (c == '\n') {
        ++line_;
      } else if (c == '/' && Peek(1) == '/') {
        while (Peek(1) != '\n' && at_ + 1 < source_.size()) ++at_;
      } else if (c == '/' && Peek(1) == '*') {
        const size_t end = source_.find("*/", at_ + 2);
        if (end == std::string_view::npos) return false;
        for (; at_ <= end; ++at_) line_ += source_[at_] == '\n';
      } else if (!absl::ascii_isspace(c) && c != '\0') {
        break;
      }
    }
    return true;
  }

  // Dots and double colons belong to a word where another part follows: "ld.global.L2::128B". A
  // directive ends at the next dot: ".reg.b16" is two.
  size_t WordEnd() const {
    const bool directive = source_[at_] == '.';
    size_t end = at_ + 1;
    while (end < source_.size()) {
      const char next = end + 1 < source_.size() ? source_[end + 1] : '\0';
      if (IsWordPart(source_[end])) {
        ++end;
      } else if (source_[end] == '.' && !directive && IsWordPart(next)) {
        end += 2;
      } else if (source_[end] == ':' && next == ':') {
        end += 2;
      } else {
        break;
      }
    }
    return end;
  }

  size_t NumberEnd() const {
    size_t end = at_ + 1;
    const bool hexadecimal = source_[at_] == '0' &&
                             std::string_view("xXfFdD").find(Peek(1)) != std::string_view::npos &&
                             Peek(1) != '\0';
    while (end < source_.size()) {
      const char c = source_[end];
      const bool exponent_sign = (c == '+' || c == '-') && !hexadecimal &&
                                 (source_[end - 1] == 'e' || source_[end - 1] == 'E');
      if (!absl::ascii_isalnum(c) && c != '.' && !exponent_sign) break;
      ++end;
    }
    return end;
  }

  absl::Status Error(std::string_view what) const {
    return absl::InvalidArgumentError(absl::StrFormat("PTX line %d: %s", line_, what));
  }

  std::string_view source_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

absl::StatusOr<std::vector<Token>> Lex(std::string_view source) { return Lexer(source).Run(); }

}  // namespace onepass::sim
