#include "codegen/number_text.h"

#include <charconv>
#include <system_error>

namespace onepass {

namespace {

template <typename T>
std::optional<T> ParseWhole(absl::string_view text) {
  T value;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> ParseNumber(absl::string_view text) { return ParseWhole<double>(text); }

std::optional<int64_t> ParseInteger(absl::string_view text) { return ParseWhole<int64_t>(text); }

std::optional<double> ParseQuotient(absl::string_view text) {
  const size_t slash = text.find('/');
  if (slash == absl::string_view::npos) return ParseNumber(text);
  const std::optional<double> over = ParseNumber(text.substr(0, slash));
  const std::optional<double> under = ParseNumber(text.substr(slash + 1));
  if (!over || !under || *under == 0) return std::nullopt;
  return *over / *under;
}

std::string PrintNumber(double value) {
  char buffer[32];
  char* end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string text(buffer, end);
  // to_chars pads the exponent as printf does: "1e-05", "1e+20".
  const size_t e = text.find('e');
  if (e == std::string::npos || value != value) return text;
  size_t digit = e + 2;
  while (digit + 1 < text.size() && text[digit] == '0') ++digit;
  return text.substr(0, e + 1) + (text[e + 1] == '-' ? "-" : "") + text.substr(digit);
}

}  // namespace onepass
