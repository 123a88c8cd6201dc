#include "runtime/npy_header.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace onepass {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kMostAxes = 32;

absl::Status Malformed(absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat("not a .npy file: ", what));
}

void SkipSpace(absl::string_view& text) {
  while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\t'))
    text.remove_prefix(1);
}

bool Take(absl::string_view& text, absl::string_view token) {
  SkipSpace(text);
  return absl::ConsumePrefix(&text, token);
}

// 'word' or "word".
std::optional<std::string> TakeString(absl::string_view& text) {
  SkipSpace(text);
  if (text.empty() || (text[0] != '\'' && text[0] != '"')) return std::nullopt;
  const size_t end = text.find(text[0], 1);
  if (end == absl::string_view::npos) return std::nullopt;
  std::string word(text.substr(1, end - 1));
  text.remove_prefix(end + 1);
  return word;
}

// (), (3,), (3, 4) or (3, 4,).
std::optional<Dims> TakeTuple(absl::string_view& text) {
  if (!Take(text, "(")) return std::nullopt;
  Dims shape;
  while (!Take(text, ")")) {
    if (!shape.empty() && !Take(text, ",")) return std::nullopt;
    if (Take(text, ")")) break;
    const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    int64_t size = 0;
    if (!absl::SimpleAtoi(text.substr(0, digits), &size) || shape.size() == kMostAxes)
      return std::nullopt;
    shape.push_back(size);
    text.remove_prefix(digits);
    // One axis needs its comma, or the parentheses mean nothing.
    SkipSpace(text);
    if (shape.size() == 1 && absl::StartsWith(text, ")")) return std::nullopt;
  }
  return shape;
}

// {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } with its keys in any order.
absl::StatusOr<NpyHeader> ParseDictionary(absl::string_view text) {
  NpyHeader header;
  bool has_descr = false, has_order = false, has_shape = false;
  if (!Take(text, "{")) return Malformed("its header is no dictionary");
  while (!Take(text, "}")) {
    const std::optional<std::string> key = TakeString(text);
    if (!key || !Take(text, ":")) return Malformed("its header is no dictionary");
    if (*key == "descr") {
      const std::optional<std::string> descr = TakeString(text);
      if (!descr) return Malformed("its descr is no simple type");
      header.descr = *descr;
      has_descr = true;
    } else if (*key == "fortran_order") {
      header.fortran_order = Take(text, "True");
      if (!header.fortran_order && !Take(text, "False"))
        return Malformed("its fortran_order is no truth value");
      has_order = true;
    } else if (*key == "shape") {
      const std::optional<Dims> shape = TakeTuple(text);
      if (!shape) return Malformed("its shape is no tuple of sizes");
      header.shape = *shape;
      has_shape = true;
    } else {
      return Malformed("its header has an unknown key");
    }
    Take(text, ",");
  }
  if (!has_descr || !has_order || !has_shape) return Malformed("its header misses a key");
  return header;
}

}  // namespace

absl::string_view NpyTypeOf(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "<f4";
    case DType::kF16:
      return "<f2";
    case DType::kBF16:
      return "<u2";
    case DType::kF64:
      return "<f8";
    case DType::kI64:
      return "<i8";
  }
  return "";
}

absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view file) {
  if (!absl::StartsWith(file, kMagic) || file.size() < 12)
    return Malformed("its first bytes are not \\x93NUMPY");
  const auto byte = [&](size_t at) { return static_cast<int64_t>(static_cast<uint8_t>(file[at])); };
  const int64_t major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0) {
    return Malformed(absl::StrCat("version ", major, ".", byte(7), " is unknown"));
  }
  int64_t length = byte(8) | byte(9) << 8;
  if (major > 1) length |= byte(10) << 16 | byte(11) << 24;
  const int64_t begin = major == 1 ? 10 : 12;
  if (length > static_cast<int64_t>(file.size()) - begin)
    return Malformed("its header is cut short");
  absl::StatusOr<NpyHeader> header = ParseDictionary(file.substr(begin, length));
  if (header.ok()) header->data_offset = begin + length;
  return header;
}

std::string NpyHeaderText(DType dtype, const Dims& dims) {
  return NpyHeaderText(NpyTypeOf(dtype), dims);
}

std::string NpyHeaderText(absl::string_view descr, const Dims& dims) {
  std::string text = absl::StrCat("{'descr': '", descr, "', 'fortran_order': False, 'shape': (",
                                  absl::StrJoin(dims, ", "), dims.size() == 1 ? ",), }" : "), }");
  constexpr size_t kPrefix = 10, kAlignment = 64;
  const size_t padded = (kPrefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(padded - kPrefix - 1, ' ');
  text.push_back('\n');
  const char prefix[4] = {1, 0, static_cast<char>(text.size() & 255),
                          static_cast<char>(text.size() >> 8)};
  return absl::StrCat(kMagic, absl::string_view(prefix, 4), text);
}

}  // namespace onepass
