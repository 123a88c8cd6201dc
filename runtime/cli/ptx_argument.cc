#include "runtime/cli/ptx_argument.h"

#include <bit>
#include <cstring>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/npy_header.h"
#include "runtime/whole_file.h"

namespace onepass::cli {
namespace {

using absl::string_view;

absl::Status Wrong(string_view text, string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("--arg ", text, ": ", why));
}

// A whole number in decimal or, after 0x, in hexadecimal.
template <class T>
bool ParseWhole(string_view text, T& value) {
  string_view digits = text;
  const bool hex = absl::ConsumePrefix(&digits, "0x") || absl::ConsumePrefix(&digits, "0X");
  return hex ? absl::SimpleHexAtoi(digits, &value) : absl::SimpleAtoi(text, &value);
}

bool ParseValue(string_view type, string_view text, PtxArgument& argument) {
  argument.bytes = type == "u64" || type == "f64" ? 8 : 4;
  if (type == "u64") return ParseWhole(text, argument.bits);
  uint32_t narrow = 0;
  bool good = false;
  if (type == "u32") {
    good = ParseWhole(text, narrow);
  } else if (type == "s32") {
    int32_t value = 0;
    good = absl::SimpleAtoi(text, &value);
    narrow = static_cast<uint32_t>(value);
  } else if (type == "f32") {
    float value = 0;
    good = absl::SimpleAtof(text, &value);
    narrow = std::bit_cast<uint32_t>(value);
  } else {
    double value = 0;
    good = absl::SimpleAtod(text, &value);
    argument.bits = std::bit_cast<uint64_t>(value);
    return good;
  }
  argument.bits = narrow;
  return good;
}

bool ParseHex(string_view digits, PtxArgument& argument) {
  if (digits.size() % 2 != 0) return false;
  for (const char c : digits) {
    if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return false;
  }
  argument.data = absl::HexStringToBytes(digits);
  argument.size = static_cast<int64_t>(argument.data.size());
  return true;
}

// "<f4": four bytes an element. 0: a type whose bytes cannot be taken as they are.
int ElementBytes(string_view descr) {
  int bytes = 0;
  if (descr.size() < 3 || (descr[0] != '<' && descr[0] != '|')) return 0;
  if (string_view("fiubc").find(descr[1]) == string_view::npos) return 0;
  return absl::SimpleAtoi(descr.substr(2), &bytes) && bytes > 0 && bytes <= 16 ? bytes : 0;
}

absl::Status ReadFile(const std::string& path, PtxArgument& argument) {
  auto file = ReadWholeFile(path);
  if (!file.ok()) return Wrong(argument.text, file.status().message());
  const auto header = ParseNpyHeader(*file);
  if (!header.ok()) return Wrong(argument.text, header.status().message());
  argument.element_bytes = ElementBytes(header->descr);
  if (argument.element_bytes == 0) {
    return Wrong(argument.text, absl::StrCat("elements of type '", header->descr, "'"));
  }
  if (header->fortran_order && header->shape.size() > 1) {
    return Wrong(argument.text, "is in Fortran order");
  }
  argument.data = file->substr(static_cast<size_t>(header->data_offset));
  int64_t size = argument.element_bytes;
  for (const int64_t axis : header->shape) {
    if (axis != 0 && size > std::numeric_limits<int64_t>::max() / axis) size = -1;
    if (size >= 0) size *= axis;
  }
  if (size != static_cast<int64_t>(argument.data.size())) {
    return Wrong(argument.text, absl::StrCat("holds ", argument.data.size(),
                                             " bytes of elements, its shape says ", size));
  }
  argument.size = size;
  argument.descr = header->descr;
  argument.shape = header->shape;
  return absl::OkStatus();
}

absl::Status ReadBuffer(string_view kind, string_view rest, PtxArgument& argument) {
  argument.kind = PtxArgument::Kind::kBuffer;
  if (kind == "npy") return ReadFile(std::string(rest), argument);
  if (kind == "in" && !ParseHex(rest, argument)) {
    return Wrong(argument.text, "is no even number of hexadecimal digits");
  }
  if (kind == "out" && (!absl::SimpleAtoi(rest, &argument.size) || argument.size < 0)) {
    return Wrong(argument.text, "is no number of bytes");
  }
  argument.printed = kind == "out";
  argument.descr = "|u1";
  argument.shape = {argument.size};
  return absl::OkStatus();
}

absl::StatusOr<PtxArgument> ReadOne(const std::string& text) {
  PtxArgument argument;
  argument.text = text;
  const size_t colon = text.find(':');
  const string_view kind = string_view(text).substr(0, colon);
  const string_view rest = colon == std::string::npos ? "" : string_view(text).substr(colon + 1);
  if (kind == "u32" || kind == "u64" || kind == "s32" || kind == "f32" || kind == "f64") {
    if (!ParseValue(kind, rest, argument)) return Wrong(text, absl::StrCat("is no ", kind));
    return argument;
  }
  if (kind == "same") {
    argument.kind = PtxArgument::Kind::kSame;
    if (!absl::SimpleAtoi(rest, &argument.same)) return Wrong(text, "names no argument");
    return argument;
  }
  if (kind != "in" && kind != "out" && kind != "npy") {
    return Wrong(text, "is none of u32:V u64:V s32:V f32:V f64:V in:HEX out:BYTES same:K npy:FILE");
  }
  if (absl::Status status = ReadBuffer(kind, rest, argument); !status.ok()) return status;
  return argument;
}

absl::StatusOr<uint64_t> Place(const PtxArgument& argument, size_t index, sim::Gpu& gpu) {
  auto address = gpu.memory().Allocate(argument.size, 256, 0, absl::StrCat("argument ", index),
                                       argument.element_bytes);
  if (!address.ok()) return Wrong(argument.text, address.status().message());
  const auto size = static_cast<int64_t>(argument.data.size());
  if (size > 0) {
    absl::Status status = gpu.memory().Write(*address, argument.data.data(), size);
    if (!status.ok()) return status;
  } else if (argument.size > 0) {
    // The caller zeroed the buffer: to a checker it is written.
    absl::Status status = gpu.memory().Fill(*address, 0, argument.size);
    if (!status.ok()) return status;
  }
  return address;
}

// Whether `argument` may fill a parameter of `bytes` bytes: a small number also fits a narrow one.
bool Fits(const PtxArgument& argument, uint64_t value, int64_t bytes) {
  if (argument.kind != PtxArgument::Kind::kValue) return bytes == 8;
  if (bytes == argument.bytes) return true;
  return (bytes == 1 || bytes == 2) && argument.bytes == 4 && value >> (8 * bytes) == 0;
}

}  // namespace

absl::StatusOr<std::vector<PtxArgument>> ReadPtxArguments(llvm::ArrayRef<std::string> texts) {
  std::vector<PtxArgument> arguments;
  for (const std::string& text : texts) {
    auto argument = ReadOne(text);
    if (!argument.ok()) return argument.status();
    arguments.push_back(*std::move(argument));
  }
  for (const PtxArgument& argument : arguments) {
    if (argument.kind != PtxArgument::Kind::kSame) continue;
    if (argument.same >= arguments.size() ||
        arguments[argument.same].kind != PtxArgument::Kind::kBuffer) {
      return Wrong(argument.text, absl::StrCat("argument ", argument.same, " is no buffer"));
    }
  }
  return arguments;
}

absl::StatusOr<std::vector<uint8_t>> PackPtxArguments(const sim::Entry& entry,
                                                      llvm::ArrayRef<PtxArgument> arguments,
                                                      sim::Gpu& gpu,
                                                      std::vector<uint64_t>& addresses) {
  if (arguments.size() != entry.parameters.size()) {
    return absl::InvalidArgumentError(absl::StrCat("--arg: ", arguments.size(), " given, ",
                                                   entry.name, " has ", entry.parameters.size(),
                                                   " parameters"));
  }
  addresses.assign(arguments.size(), 0);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind != PtxArgument::Kind::kBuffer) continue;
    const auto address = Place(arguments[i], i, gpu);
    if (!address.ok()) return address.status();
    addresses[i] = *address;
  }
  std::vector<uint8_t> packed(static_cast<size_t>(entry.parameter_bytes));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const PtxArgument& argument = arguments[i];
    const sim::Parameter& parameter = entry.parameters[i];
    if (argument.kind == PtxArgument::Kind::kSame) addresses[i] = addresses[argument.same];
    const uint64_t value =
        argument.kind == PtxArgument::Kind::kValue ? argument.bits : addresses[i];
    if (!Fits(argument, value, parameter.bytes)) {
      return Wrong(argument.text, absl::StrCat("parameter ", i, " (", parameter.name, ") has ",
                                               parameter.bytes, " bytes"));
    }
    std::memcpy(packed.data() + parameter.offset, &value, static_cast<size_t>(parameter.bytes));
  }
  return packed;
}

absl::Status SavePtxArgument(const PtxArgument& argument, const std::string& bytes,
                             const std::string& path, NewFiles& files) {
  return files.Write(path, {NpyHeaderText(argument.descr, argument.shape), bytes});
}

}  // namespace onepass::cli
