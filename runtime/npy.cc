#include "runtime/npy.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/npy_header.h"

namespace onepass {
namespace {

constexpr int64_t kLongestHeader = 1 << 16;

absl::Status Refused(const std::string& path, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": ", why));
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

// What is wrong with a file of this header and size for a tensor, or "".
std::string Mismatch(const NpyHeader& header, uintmax_t size, const TensorSpec& spec) {
  const std::string wanted = absl::StrCat(NpyTypeOf(spec.dtype), " ", ShapeText(spec.dims));
  const std::string found = absl::StrCat(header.descr, " ", ShapeText(header.shape));
  if (found != wanted)
    return absl::StrCat("wanted ", wanted, " for ", spec.name(), ", found ", found);
  if (header.fortran_order && spec.dims.size() > 1) return "wanted C order, found Fortran order";
  const uintmax_t bytes = spec.elements() * SizeOf(spec.dtype), there = size - header.data_offset;
  if (there == bytes) return "";
  return absl::StrCat("wanted ", bytes, " bytes of data for ", found, ", found ", there);
}

}  // namespace

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

absl::StatusOr<HostTensor> ReadNpy(const std::string& path, const TensorSpec& spec) {
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) {
    std::error_code ignored;
    if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored))) {
      return Refused(path, "is a link to a file that is not there");
    }
    return absl::NotFoundError(path);
  }
  // Before it is opened: a pipe would wait for a writer.
  if (error) return Refused(path, "cannot be read");
  std::ifstream in(path, std::ios::binary);
  std::string start(std::min<uintmax_t>(size, kLongestHeader), '\0');
  if (!in.read(start.data(), start.size())) return Refused(path, "cannot be read");
  const absl::StatusOr<NpyHeader> header = ParseNpyHeader(start);
  if (!header.ok()) return Refused(path, header.status().message());
  if (const std::string wrong = Mismatch(*header, size, spec); !wrong.empty()) {
    return Refused(path, wrong);
  }
  std::string data(spec.elements() * SizeOf(spec.dtype), '\0');
  in.seekg(header->data_offset);
  if (!data.empty() && !in.read(data.data(), data.size())) return Refused(path, "cannot be read");
  return FromLogicalBytes(spec, data);
}

absl::Status WriteNpy(const std::string& path, const HostTensor& tensor, NewFiles& files) {
  const std::string header = NpyHeaderText(tensor.spec.dtype, tensor.spec.dims);
  const std::string data = LogicalBytes(tensor);
  return files.Write(path, {header, data});
}

}  // namespace onepass
