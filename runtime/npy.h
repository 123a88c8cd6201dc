// Tensors as NumPy's .npy files: little-endian, C order, logical dims; bf16 as `<u2` holding the
// bits.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "codegen/dtype.h"
#include "codegen/problem.h"
#include "runtime/new_files.h"
#include "runtime/reference/reference.h"

namespace onepass {

// What the first bytes of a file say.
struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  Dims shape;
  int64_t data_offset = 0;
};

// `file` holds the beginning of the file, the whole header included. Versions 1.0, 2.0 and 3.0,
// which differ only in the header's length field and encoding. kInvalidArgument says what is wrong;
// no length is trusted before it was checked against the bytes that are there.
absl::StatusOr<NpyHeader> ParseNpyHeader(absl::string_view file);

// Version 1.0, padded to a multiple of 64 bytes, as NumPy writes it.
std::string NpyHeaderText(DType dtype, const Dims& dims);

// "<f4"
absl::string_view NpyTypeOf(DType dtype);

// Reads the tensor that `spec` describes. kInvalidArgument names the file, what was wanted and what
// was found: another shape, type, byte order or Fortran order, a size that is not the header's.
// kNotFound where there is no such file.
absl::StatusOr<HostTensor> ReadNpy(const std::string& path, const TensorSpec& spec);

absl::Status WriteNpy(const std::string& path, const HostTensor& tensor, NewFiles& files);

// The elements in logical C order, without what lies between them in memory; and back. Where
// several logical elements share one place (stride 0), the last one stays.
std::string LogicalBytes(const HostTensor& tensor);
HostTensor FromLogicalBytes(const TensorSpec& spec, absl::string_view bytes);

}  // namespace onepass
