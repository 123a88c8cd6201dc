#include "runtime/npy.h"

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"

namespace onepass {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr int64_t kLongestHeader = 1 << 16;
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

std::string ShapeText(const Dims& dims) {
  return absl::StrCat("(", absl::StrJoin(dims, ","), dims.size() == 1 ? ",)" : ")");
}

// Runs visit(place, rank of the element) over all elements in logical C order; `place` counts
// elements of memory.
template <typename Visit>
void ForEachElement(const TensorSpec& spec, Visit visit) {
  const int64_t elements = spec.elements();
  if (elements == 0) return;
  Dims index(spec.dims.size(), 0);
  int64_t place = 0;
  for (int64_t n = 0; n < elements; ++n) {
    visit(place, n);
    for (size_t axis = index.size(); axis-- > 0;) {
      place += spec.strides[axis];
      if (++index[axis] < spec.dims[axis]) break;
      place -= spec.strides[axis] * spec.dims[axis];
      index[axis] = 0;
    }
  }
}

template <typename Visit>
void ForEachElementOfSize(const TensorSpec& spec, Visit visit) {
  switch (SizeOf(spec.dtype)) {
    case 2:
      return ForEachElement(
          spec, [&](int64_t place, int64_t n) { visit.template operator()<uint16_t>(place, n); });
    case 4:
      return ForEachElement(
          spec, [&](int64_t place, int64_t n) { visit.template operator()<uint32_t>(place, n); });
    default:
      return ForEachElement(
          spec, [&](int64_t place, int64_t n) { visit.template operator()<uint64_t>(place, n); });
  }
}

template <typename Word>
void CopyWord(void* to, int64_t to_index, const void* from, int64_t from_index) {
  std::memcpy(static_cast<char*>(to) + to_index * sizeof(Word),
              static_cast<const char*>(from) + from_index * sizeof(Word), sizeof(Word));
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

std::string LogicalBytes(const HostTensor& tensor) {
  std::string bytes(tensor.spec.elements() * SizeOf(tensor.spec.dtype), '\0');
  ForEachElementOfSize(tensor.spec, [&]<typename Word>(int64_t place, int64_t n) {
    CopyWord<Word>(bytes.data(), n, tensor.bytes.data(), place);
  });
  return bytes;
}

HostTensor FromLogicalBytes(const TensorSpec& spec, absl::string_view bytes) {
  HostTensor tensor{spec, std::vector<uint8_t>(spec.span_elements() * SizeOf(spec.dtype))};
  ForEachElementOfSize(spec, [&]<typename Word>(int64_t place, int64_t n) {
    CopyWord<Word>(tensor.bytes.data(), place, bytes.data(), n);
  });
  return tensor;
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
  std::string text =
      absl::StrCat("{'descr': '", NpyTypeOf(dtype), "', 'fortran_order': False, 'shape': (",
                   absl::StrJoin(dims, ", "), dims.size() == 1 ? ",), }" : "), }");
  constexpr size_t kPrefix = 10, kAlignment = 64;
  const size_t padded = (kPrefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  text.resize(padded - kPrefix - 1, ' ');
  text.push_back('\n');
  const char prefix[4] = {1, 0, static_cast<char>(text.size() & 255),
                          static_cast<char>(text.size() >> 8)};
  return absl::StrCat(kMagic, absl::string_view(prefix, 4), text);
}

absl::StatusOr<HostTensor> ReadNpy(const std::string& path, const TensorSpec& spec) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) return absl::NotFoundError(path);
  std::ifstream in(path, std::ios::binary);
  std::string start(std::min<uintmax_t>(error ? 0 : size, kLongestHeader), '\0');
  if (error || !in.read(start.data(), start.size())) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  }
  const absl::StatusOr<NpyHeader> header = ParseNpyHeader(start);
  if (!header.ok())
    return absl::InvalidArgumentError(absl::StrCat(path, ": ", header.status().message()));
  const std::string wanted = absl::StrCat(NpyTypeOf(spec.dtype), " ", ShapeText(spec.dims));
  const std::string found = absl::StrCat(header->descr, " ", ShapeText(header->shape));
  if (found != wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": wanted ", wanted, " for ", spec.name(), ", found ", found));
  }
  if (header->fortran_order && spec.dims.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": wanted C order, found Fortran order"));
  }
  const int64_t bytes = spec.elements() * SizeOf(spec.dtype);
  if (size - header->data_offset != static_cast<uintmax_t>(bytes)) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": wanted ", bytes, " bytes of data for ",
                                                   found, ", found ", size - header->data_offset));
  }
  std::string data(bytes, '\0');
  in.seekg(header->data_offset);
  if (bytes > 0 && !in.read(data.data(), bytes))
    return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be read"));
  return FromLogicalBytes(spec, data);
}

absl::Status WriteNpy(const std::string& path, const HostTensor& tensor, NewFiles& files) {
  const std::string header = NpyHeaderText(tensor.spec.dtype, tensor.spec.dims);
  const std::string data = LogicalBytes(tensor);
  return files.Write(path, {header, data});
}

}  // namespace onepass
