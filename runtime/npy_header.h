// The header of a .npy file.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "codegen/dtype.h"
#include "codegen/problem.h"

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
std::string NpyHeaderText(absl::string_view descr, const Dims& dims);

// "<f4"
absl::string_view NpyTypeOf(DType dtype);

}  // namespace onepass
