#include <algorithm>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "runtime/sim/lexer.h"
#include "tests/runtime/sim/fuzz/mutate.h"

namespace onepass::sim {
namespace {

using Tokens = std::vector<Token>;

// The tokens of the text, none where it has no such thing.
Tokens TokensOf(std::string_view text) {
  auto tokens = Lex(text);
  if (!tokens.ok()) return {};
  tokens->pop_back();
  return *std::move(tokens);
}

// A token for which `fits`, from anywhere; null where there is none.
template <class Fits>
const Token* AnyToken(const Tokens& tokens, Random& random, Fits fits) {
  const bool anywhere = random.Below(16) == 0;
  size_t body = 0;  // mostly it is one of a function's body
  while (!anywhere && body < tokens.size() && !tokens[body].Is("{")) ++body;
  const size_t count = tokens.size() - body;
  const size_t first = count == 0 ? 0 : random.Below(count);
  for (size_t i = 0; i < count; ++i) {
    const Token& token = tokens[body + (first + i) % count];
    if (fits(token)) return &token;
  }
  return nullptr;
}

bool IsAny(const Token&) { return true; }
bool IsRegister(const Token& token) { return token.text.starts_with('%'); }
bool IsNumber(const Token& token) { return token.kind == Token::Kind::kNumber; }
bool IsWord(const Token& token) { return token.kind == Token::Kind::kWord; }
bool IsOpcode(const Token& token) {
  return IsWord(token) && !IsRegister(token) && token.text.find('.', 1) != std::string_view::npos;
}
bool IsType(const Token& token) { return IsWord(token) && token.text.starts_with('.'); }

void Replace(const Mutable& in, const Token& token, const std::string& by) {
  in.text.replace(token.text.data() - in.text.data(), token.text.size(), by);
}

// A token that fits becomes another one that does, of this module or of another.
template <class Fits>
void ReplaceByOther(const Mutable& in, bool same_text, Fits fits) {
  const Tokens tokens = TokensOf(in.text);
  const Token* token = AnyToken(tokens, in.random, fits);
  const Tokens others = same_text ? tokens : TokensOf(in.Other());
  const Token* other = AnyToken(others, in.random, fits);
  if (token != nullptr && other != nullptr) Replace(in, *token, std::string(other->text));
}

void ReplaceRegister(const Mutable& in) { ReplaceByOther(in, true, IsRegister); }

std::string_view FamilyOf(const Token& token) {
  return token.text.substr(0, token.text.find_first_of("0123456789"));
}

// By one of the same family, which keeps the widths.
void ReplaceByKin(const Mutable& in) {
  const Tokens tokens = TokensOf(in.text);
  const Token* token = AnyToken(tokens, in.random, IsRegister);
  if (token == nullptr) return;
  const Token* other = AnyToken(tokens, in.random, [&](const Token& candidate) {
    return FamilyOf(candidate) == FamilyOf(*token);
  });
  if (other != nullptr) Replace(in, *token, std::string(other->text));
}
void ReplaceOpcode(const Mutable& in) { ReplaceByOther(in, false, IsOpcode); }
void ReplaceType(const Mutable& in) { ReplaceByOther(in, false, IsType); }
void ReplaceWord(const Mutable& in) { ReplaceByOther(in, true, IsWord); }
void ReplaceAny(const Mutable& in) { ReplaceByOther(in, false, IsAny); }

void ReplaceNumber(const Mutable& in) {
  constexpr const char* kNumbers[] = {"0",
                                      "1",
                                      "-1",
                                      "31",
                                      "32",
                                      "33",
                                      "64",
                                      "255",
                                      "4096",
                                      "2147483647",
                                      "-2147483648",
                                      "4294967295",
                                      "4294967296",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "18446744073709551615",
                                      "0f7FC00000",
                                      "0fFF800000",
                                      "1e30",
                                      "0d7FF0000000000000",
                                      "0x",
                                      "99999999999999999999",
                                      "0b11"};
  const Tokens tokens = TokensOf(in.text);
  const Token* token = AnyToken(tokens, in.random, IsNumber);
  if (token != nullptr) Replace(in, *token, kNumbers[in.random.Below(std::size(kNumbers))]);
}

// One part of an opcode becomes a part of another opcode, goes or comes twice.
void ChangeModifier(const Mutable& in) {
  const Tokens tokens = TokensOf(in.text);
  const Token* token = AnyToken(tokens, in.random, IsOpcode);
  const Tokens others = TokensOf(in.Other());
  const Token* other = AnyToken(others, in.random, IsOpcode);
  if (token == nullptr || other == nullptr) return;
  std::vector<std::string> parts = absl::StrSplit(std::string(token->text), '.');
  const std::vector<std::string> taken = absl::StrSplit(std::string(other->text), '.');
  const auto at = parts.begin() + static_cast<std::ptrdiff_t>(in.random.Below(parts.size()));
  const uint64_t way = in.random.Below(4);
  if (way == 0) parts.erase(at);
  if (way == 1) parts.insert(at, taken[in.random.Below(taken.size())]);
  if (way > 1) *at = taken[in.random.Below(taken.size())];
  Replace(in, *token, absl::StrJoin(parts, "."));
}

void SwapNeighbours(const Mutable& in) {
  const Tokens tokens = TokensOf(in.text);
  if (tokens.size() < 4) return;
  const size_t at = in.random.Below(tokens.size() - 2);  // "a, b" is three tokens
  const std::string first(tokens[at].text);
  const std::string second(tokens[at + 2].text);
  Replace(in, tokens[at + 2], first);
  const Tokens again = TokensOf(in.text);
  if (again.size() == tokens.size()) Replace(in, again[at], second);
}

void DeleteToken(const Mutable& in) {
  const Tokens tokens = TokensOf(in.text);
  const Token* token = AnyToken(tokens, in.random, IsAny);
  if (token != nullptr) Replace(in, *token, "");
}

void GuardInstruction(const Mutable& in) {
  constexpr const char* kGuards[] = {"@%p1 ", "@!%p1 ", "@%p2 ", "@p ", "@!%p3 "};
  const Tokens tokens = TokensOf(in.text);
  const Token* token = AnyToken(tokens, in.random, IsOpcode);
  if (token == nullptr || token->text.starts_with('.')) return;
  Replace(in, *token, kGuards[in.random.Below(std::size(kGuards))] + std::string(token->text));
}

constexpr const char* kSpecial[] = {
    "%tid.x",           "%tid",         "%laneid", "%clock64", "%ctaid.y",           "%smid",
    "%cluster_ctarank", "%lanemask_lt", "WARP_SZ", "_",        "%dynamic_smem_size", "%envreg3",
    "%globaltimer",     "%nctaid.w"};

void UseSpecialRegister(const Mutable& in) {
  const Tokens tokens = TokensOf(in.text);
  const Token* token = AnyToken(tokens, in.random, IsRegister);
  if (token != nullptr) Replace(in, *token, kSpecial[in.random.Below(std::size(kSpecial))]);
}

// What keeps most texts good stands more than once.
constexpr Mutation kMutations[] = {
    ReplaceByKin,      ReplaceByKin,     ReplaceByKin,     ReplaceByKin,   ReplaceByKin,
    ReplaceNumber,     ReplaceNumber,    ReplaceNumber,    ChangeModifier, ChangeModifier,
    ReplaceOpcode,     GuardInstruction, GuardInstruction, ReplaceType,    ReplaceRegister,
    SwapNeighbours,    SwapNeighbours,   ReplaceAny,       ReplaceWord,    DeleteToken,
    UseSpecialRegister};

}  // namespace

std::span<const Mutation> TokenMutations() { return kMutations; }

}  // namespace onepass::sim
