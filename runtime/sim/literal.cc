#include "runtime/sim/literal.h"

#include <bit>
#include <charconv>

#include "runtime/sim/small_float.h"

namespace onepass::sim {
namespace {

std::optional<uint64_t> ParseInteger(std::string_view digits, int base) {
  if (!digits.empty() && (digits.back() == 'U' || digits.back() == 'u')) digits.remove_suffix(1);
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

std::optional<Literal> ParseBits(std::string_view digits, size_t length, Literal::Kind kind) {
  const auto bits = ParseInteger(digits, 16);
  if (digits.size() != length || !bits) return std::nullopt;
  return Literal{kind, *bits};
}

double ValueOf(const Literal& literal) {
  switch (literal.kind) {
    case Literal::Kind::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(literal.bits));
    case Literal::Kind::kF64:
      return std::bit_cast<double>(literal.bits);
    default:
      return static_cast<double>(static_cast<int64_t>(literal.bits));
  }
}

}  // namespace

std::optional<Literal> ParseLiteral(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') {
    const char kind = text[1];
    const std::string_view rest = text.substr(2);
    if (kind == 'f' || kind == 'F') return ParseBits(rest, 8, Literal::Kind::kF32);
    if (kind == 'd' || kind == 'D') return ParseBits(rest, 16, Literal::Kind::kF64);
    std::optional<uint64_t> value;
    if (kind == 'x' || kind == 'X') {
      value = ParseInteger(rest, 16);
    } else if (kind == 'b' || kind == 'B') {
      value = ParseInteger(rest, 2);
    } else {
      value = ParseInteger(text.substr(1), 8);
    }
    if (value) return Literal{Literal::Kind::kInteger, *value};
  }
  if (const auto value = ParseInteger(text, 10)) return Literal{Literal::Kind::kInteger, *value};
  double value = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return Literal{Literal::Kind::kF64, std::bit_cast<uint64_t>(value)};
}

Literal Negated(Literal literal) {
  if (literal.kind == Literal::Kind::kF32) literal.bits ^= uint64_t{1} << 31;
  if (literal.kind == Literal::Kind::kF64) literal.bits ^= uint64_t{1} << 63;
  if (literal.kind == Literal::Kind::kInteger) literal.bits = 0 - literal.bits;
  return literal;
}

uint64_t BitsAs(const Literal& literal, Type type) {
  const bool same = (literal.kind == Literal::Kind::kF32 && BitsOf(type) == 32) ||
                    (literal.kind == Literal::Kind::kF64 && BitsOf(type) == 64);
  if (same) return literal.bits;
  if (type == Type::kF32) {
    return std::bit_cast<uint32_t>(static_cast<float>(ValueOf(literal)));
  }
  if (type == Type::kF64) return std::bit_cast<uint64_t>(ValueOf(literal));
  if (literal.kind == Literal::Kind::kF64 && BitsOf(type) == 32) {
    return std::bit_cast<uint32_t>(static_cast<float>(ValueOf(literal)));
  }
  if (type == Type::kF16 && literal.kind != Literal::Kind::kInteger) {
    return RoundTo(kF16Format, ValueOf(literal), Rounding::kNearest);
  }
  if (type == Type::kBf16 && literal.kind != Literal::Kind::kInteger) {
    return RoundTo(kBf16Format, ValueOf(literal), Rounding::kNearest);
  }
  const int bits = BitsOf(type);
  return bits >= 64 ? literal.bits : literal.bits & ((uint64_t{1} << bits) - 1);
}

}  // namespace onepass::sim
